// RUN: tile-opt %s --verify-roundtrip --tile-verify-stage=stage=laid-out -o /dev/null
// Three compute warp groups (D = 64 attention, 192-row tiles): a group digit of radix 3.
#schedule = #tile.schedule<threads = 512, partition = [3, 1], roles = [<kind = load, warps = 4, regs = 32>, <kind = compute, warps = 12, regs = 160>]>
#acc = #tile.layout<"reg 2:d1 2:8d0 2:8d1 2:16d1 2:32d1 2:64d1 | lane 2:2d1 2:4d1 2:d0 2:2d0 2:4d0 | warp 2:16d0 2:32d0 | group 3:64d0 -> 192x128">
#row = #tile.layout<"reg 2:8d0 | lane 2:0 2:0 2:d0 2:2d0 2:4d0 | warp 2:16d0 2:32d0 | group 3:64d0 -> 192">
tile.kernel @k(%C: !tile.view<?x?xf32>) attributes {tile.target = #tile.target<"sm_90a">} {
  %c1 = arith.constant 1 : index
  tile.launch (%b) in (%c1) schedule #schedule {
    %x = tile.undef : !tile.tile<192x128xf32, #acc>
    %m = tile.reduce max %x axis 1 : !tile.tile<192x128xf32, #acc> -> !tile.tile<192xf32, #row>
    tile.print "m", %m : !tile.tile<192xf32, #row>
  }
  tile.yield
}

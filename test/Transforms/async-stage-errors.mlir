// RUN: tile-opt %s --tile-allocate-shared -verify-diagnostics -split-input-file

#rows = #tile.layout<"d0 512:512 | d1 512:1 -> 262144">
#schedule = #tile.schedule<threads = 128, partition = [4, 1]>
tile.kernel @big(%g: index) attributes {tile.device, tile.target = #tile.target<"sm_80">} {
  // expected-error @below {{[E0402] this launch needs 524288 bytes of shared memory; sm_80 allows 166912}}
  // expected-note @below {{smaller tiles or fewer stages make it fit}}
  tile.launch (%b) in (%g) schedule #schedule {
    // expected-note @below {{524288 bytes}}
    %s = tile.alloc : !tile.buffer<512x512xf16, #rows>
  }
  tile.yield
}

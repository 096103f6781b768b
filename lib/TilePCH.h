//===- TilePCH.h - the precompiled header of every user of the tile dialect --===//
// Stands on PCH.h. Only what the dialect's own users all include: whoever changes it rebuilds them anyway.
#pragma once
#include "tilec/Dialect/Tile/IR/KernelTarget.h"
#include "tilec/Dialect/Tile/IR/Tile.h"

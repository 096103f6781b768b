// One symbol, so that the precompiled header has an owner.
namespace tilec {
extern const int tilePCHOwner;
const int tilePCHOwner = 0;
} // namespace tilec

// One symbol, so that the precompiled header has an owner.
namespace tilec {
extern const int pchOwner;
const int pchOwner = 0;
} // namespace tilec

#include "header_user.inc"

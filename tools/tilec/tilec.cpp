//===- tilec.cpp - main ------------------------------------------------------===//
#include "tilec/Driver/Driver.h"

int main(int argc, char **argv) { return tilec::runDriver(argc, argv); }

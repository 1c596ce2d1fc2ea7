// SPDX-License-Identifier: Apache-2.0
// Reads the figures of a topology that are not links: costs of steps, network cards, and sources.
#pragma once

#include "JsonReader.h"
#include "gc3/Topology/Topology.h"

namespace gc3::topology {

Costs readCosts(JsonReader &reader, const Value &value);
NetworkCards readNetwork(JsonReader &reader, const Value &value);
std::vector<Source> readSources(JsonReader &reader, const Value &value);

} // namespace gc3::topology

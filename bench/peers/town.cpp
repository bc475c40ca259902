// The default town of `folkmoot sim` as a compiled event loop: the limit of the case `simulator`.
// Every proposal and outcome reaches each agent. Every vote reaches the network and the neighbours
// of its voter. Each of these messages is one event in a binary heap.
// Build: c++ -O2 -std=c++17 -o town town.cpp. Usage: town AGENTS BLOCKS [NEIGHBOURS].
// Prints: votes messages blocks cpu_seconds
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <queue>
#include <random>
#include <vector>

enum class Kind : uint8_t { Propose, Hear, Decide, Count, Told, Outcome };

struct Event {
  double at;
  uint32_t number;
  uint32_t agent;
  Kind kind;
  bool approves;
  uint32_t block;
};

struct Later {
  bool operator()(const Event& one, const Event& other) const {
    return one.at > other.at || (one.at == other.at && one.number > other.number);
  }
};

// Weights of content and neighbours in percent, threshold, longest thinking time in milliseconds.
struct Personality {
  int content, social, threshold, think;
};
const Personality personalities[] = {
    {80, 15, 60, 2000}, {70, 20, 55, 2500}, {40, 40, 50, 2000}, {10, 60, 50, 1000}, {5, 10, 50, 800}};
const double soundness[] = {50, 66, 100, 100};
const double abstains = 0.03, least_ms = 20, range_ms = 80, think_ms = 200, pause_ms = 2000;

struct Town {
  uint32_t agents, wanted, neighbours;
  std::mt19937 random{7};
  std::uniform_real_distribution<double> unit{0, 1};
  std::vector<uint8_t> type;
  std::vector<uint32_t> links, heard, approving;
  std::priority_queue<Event, std::vector<Event>, Later> due;
  uint32_t number = 0, blocks = 0, block = 0, approve = 0, reject = 0;
  uint64_t votes = 0, messages = 0;
  bool closed = true;
  double sound = 0, now = 0;

  Town(uint32_t agents, uint32_t wanted, uint32_t neighbours)
      : agents(agents), wanted(wanted), neighbours(neighbours), type(agents),
        links(agents * neighbours), heard(agents), approving(agents) {
    for (auto& one : type) one = random() % 5;
    for (auto& one : links) one = random() % agents;
  }

  void schedule(double at, Kind kind, uint32_t agent, bool approves = false) {
    due.push({at, number++, agent, kind, approves, block});
  }
  double latency() { return least_ms + unit(random) * range_ms; }

  void propose() {
    block++;
    closed = false;
    approve = reject = 0;
    sound = soundness[random() % 4];
    for (uint32_t agent = 0; agent < agents; agent++) {
      heard[agent] = approving[agent] = 0;
      schedule(now + latency(), Kind::Hear, agent);
    }
  }

  void hear(uint32_t agent) {
    messages++;
    if (unit(random) < abstains) return;
    schedule(now + think_ms + unit(random) * personalities[type[agent]].think, Kind::Decide, agent);
  }

  void decide(uint32_t agent) {
    const Personality& own = personalities[type[agent]];
    double social = heard[agent] ? 100. * approving[agent] / heard[agent] : 50;
    double whim = (100 - own.content - own.social) * unit(random) * 100;
    bool approves = own.content * sound + own.social * social + whim >= 100. * own.threshold;
    schedule(now + latency(), Kind::Count, agent, approves);
    for (uint32_t place = 0; place < neighbours; place++)
      schedule(now + latency(), Kind::Told, links[agent * neighbours + place], approves);
  }

  void count(bool approves) {
    votes++;
    approves ? approve++ : reject++;
    if (3 * approve <= 2 * agents && 3 * reject < agents) return;
    closed = true;
    blocks++;
    for (uint32_t agent = 0; agent < agents; agent++) schedule(now + latency(), Kind::Outcome, agent);
    if (blocks < wanted) schedule(now + pause_ms, Kind::Propose, 0);
  }

  void run() {
    schedule(0, Kind::Propose, 0);
    while (!due.empty()) {
      Event event = due.top();
      due.pop();
      now = event.at;
      bool open = !closed && event.block == block;
      switch (event.kind) {
        case Kind::Propose: propose(); break;
        case Kind::Hear: hear(event.agent); break;
        case Kind::Decide: if (open) decide(event.agent); break;
        case Kind::Count: messages++; if (open) count(event.approves); break;
        case Kind::Told:
          messages++;
          if (open) heard[event.agent]++, approving[event.agent] += event.approves;
          break;
        case Kind::Outcome: messages++; break;
      }
    }
  }
};

int main(int count, char** words) {
  if (count < 3) return std::fprintf(stderr, "usage: town AGENTS BLOCKS [NEIGHBOURS]\n"), 2;
  Town town(std::atoi(words[1]), std::atoi(words[2]), count > 3 ? std::atoi(words[3]) : 8);
  std::clock_t began = std::clock();
  town.run();
  double cpu = double(std::clock() - began) / CLOCKS_PER_SEC;
  std::printf("%llu %llu %u %.6f\n", (unsigned long long)town.votes,
              (unsigned long long)town.messages, town.blocks, cpu);
}

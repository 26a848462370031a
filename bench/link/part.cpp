// A part of a program without a marker: containers, strings, streams and algorithms, as many programs are made of. It is
// compiled several times, PART says which one it is.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#define NAME2(name, part) name##part
#define NAME1(name, part) NAME2(name, part)
#define NAME(name) NAME1(name, PART)

namespace {

struct Node {
  std::string name;
  std::map<std::string, std::unique_ptr<Node>> children;
  std::vector<double> samples;
  double total() const {
    double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
    for (auto &[name, child] : children)
      sum += child->total() * double(name.size());
    return sum;
  }
};

std::unique_ptr<Node> grow(std::mt19937 &random, int depth) {
  auto node = std::make_unique<Node>();
  node->name = "node" + std::to_string(random() % 1000);
  std::normal_distribution<double> normal(PART, 1);
  std::generate_n(std::back_inserter(node->samples), 10, [&] { return normal(random); });
  std::sort(node->samples.begin(), node->samples.end());
  for (int i = 0; depth && i < 3; ++i) {
    auto child = grow(random, depth - 1);
    node->children[child->name] = std::move(child);
  }
  return node;
}

void print(std::ostream &out, const Node &node, int indent) {
  out << std::string(std::size_t(indent), ' ') << node.name << ' ' << node.total() << '\n';
  for (auto &[name, child] : node.children)
    print(out, *child, indent + 2);
}

} // namespace

std::string NAME(part)(unsigned seed) {
  std::mt19937 random(seed + PART);
  auto root = grow(random, 5);
  std::ostringstream out;
  print(out, *root, 0);
  std::unordered_map<std::string, int> words;
  std::istringstream in(out.str());
  for (std::string word; in >> word;)
    words[word]++;
  std::vector<std::pair<int, std::string>> sorted;
  for (auto &[word, count] : words)
    sorted.emplace_back(count, word);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  return sorted.front().second + " " + std::to_string(sorted.size());
}

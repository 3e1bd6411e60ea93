// core/operations/subscripts.cc -- reading subscripts, and the order in which operands meet
#include <hom/core/operations/subscripts.h>

#include <algorithm>
#include <limits>

#include <hom/core/axes.h>

namespace hom {
namespace {

constexpr int first_of_ellipsis = 256;
constexpr const char* how_to_write =
    "one letter for each axis, `...` for axes that broadcast, as in \"...ij,...jk->...ik\"";

/// The subscripts of one operand or of the result: letters, and where the ellipsis stands among
/// them.
struct Part {
  std::string letters;
  std::size_t ellipsis = std::string::npos;

  bool has_ellipsis() const { return ellipsis != std::string::npos; }
};

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// One reading of one text; knows what to complain about.
class Reader {
 public:
  Reader(std::string_view text, const std::vector<TensorType>& types, const Location& at)
      : text_(text), types_(types), at_(at) {}

  Subscripts read() {
    split();
    require(inputs_.size() == types_.size(), at_, [&] {
      return Complaint{"einsum: " + quoted(text_) + " has subscripts for " +
                           std::to_string(inputs_.size()) + " operands, got " +
                           std::to_string(types_.size()),
                       "commas separate the subscripts of operands"};
    });
    for (std::size_t i = 0; i < inputs_.size(); ++i) add_operand(i);
    if (is_explicit_) {
      add_result();
    } else {
      add_implicit_result();
    }
    return std::move(subscripts_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why, const std::string& hint = how_to_write) const {
    fail({"einsum: " + quoted(text_) + ": " + why, hint}, at_);
  }

  void split() {
    std::string text;
    for (char c : text_) {
      if (c != ' ') text += c;
    }
    const std::size_t arrow = text.find("->");
    is_explicit_ = arrow != std::string::npos;
    if (is_explicit_) {
      const std::string result = text.substr(arrow + 2);
      if (result.find("->") != std::string::npos) refuse("there are two arrows");
      if (result.find(',') != std::string::npos) refuse("there is one result");
      result_ = part(result);
      text.resize(arrow);
    }
    for (std::size_t start = 0;;) {
      const std::size_t comma = text.find(',', start);
      inputs_.push_back(part(text.substr(start, comma - start)));
      if (comma == std::string::npos) return;
      start = comma + 1;
    }
  }

  Part part(const std::string& text) const {
    Part result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z')) {
        result.letters += c;
      } else if (text.compare(i, 3, "...") == 0) {
        if (result.has_ellipsis()) refuse("`" + text + "` has two ellipses");
        result.ellipsis = result.letters.size();
        i += 2;
      } else {
        refuse("`" + text.substr(i) + "` does not begin with a subscript");
      }
    }
    return result;
  }

  /// Letters with `axes` axes of the ellipsis in their place.
  static Labels labels(const Part& part, std::size_t axes) {
    Labels list(part.letters.begin(), part.letters.end());
    if (!part.has_ellipsis()) return list;
    Labels between;
    for (std::size_t i = axes; i-- > 0;) between.push_back(first_of_ellipsis + static_cast<int>(i));
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(part.ellipsis), between.begin(),
                between.end());
    return list;
  }

  void add_operand(std::size_t i) {
    const TensorType& type = types_[i];
    const Part& part = inputs_[i];
    const std::size_t letters = part.letters.size();
    const std::size_t rank = type.shape.size();
    const bool fits = part.has_ellipsis() ? letters <= rank : letters == rank;
    require(fits, at_, [&] {
      return Complaint{"einsum: " + quoted(text_) + " names " + std::to_string(letters) +
                           (part.has_ellipsis() ? " axes and more" : " axes") + " of operand " +
                           std::to_string(i) + ", which is " + to_string(type),
                       how_to_write};
    });
    const std::size_t broadcast = part.has_ellipsis() ? rank - letters : 0;
    ellipsis_axes_ = std::max(ellipsis_axes_, broadcast);
    const Labels list = labels(part, broadcast);
    for (std::size_t axis = 0; axis < list.size(); ++axis) meet(list[axis], i, axis);
    subscripts_.operands.push_back(list);
  }

  void meet(int label, std::size_t operand, std::size_t axis) {
    const std::int64_t extent = types_[operand].shape[axis];
    const auto [entry, is_new] = subscripts_.extents.emplace(label, extent);
    const auto [first, first_is_new] = met_.emplace(label, operand);
    if (is_new) return;
    std::int64_t& common = entry->second;
    const bool is_letter = label < first_of_ellipsis;
    if (!is_letter && common == 1) {
      common = extent;
      first->second = operand;
    }
    require(extent == common || (!is_letter && extent == 1), at_, [&] {
      const std::string name =
          is_letter ? "`" + std::string(1, static_cast<char>(label)) + "`"
                    : "axis " + std::to_string(first_of_ellipsis - 1 - label) + " of the ellipsis";
      const auto side = [&](std::size_t i, std::int64_t n) {
        return std::to_string(n) + " in operand " + std::to_string(i) + ", " + to_string(types_[i]);
      };
      return Complaint{"einsum: " + quoted(text_) + ": " + name + " is " +
                           side(first->second, common) + ", and " + side(operand, extent),
                       is_letter ? "axes with one letter have one extent; only those of `...` "
                                   "broadcast"
                                 : "extents of the ellipsis are equal or 1"};
    });
  }

  void add_result() {
    for (std::size_t i = 0; i < result_.letters.size(); ++i) {
      const char letter = result_.letters[i];
      const std::string name = "`" + std::string(1, letter) + "`";
      if (subscripts_.extents.count(letter) == 0)
        refuse("the result names " + name + ", which no operand has");
      if (result_.letters.find(letter, i + 1) != std::string::npos)
        refuse("the result names " + name + " twice",
               "multiply by eye(n) to put a diagonal into a matrix");
    }
    if (ellipsis_axes_ > 0 && !result_.has_ellipsis())
      refuse("the result has no place for the axes of the ellipsis",
             "write `...` after the arrow too, or name the axes that are to be summed");
    subscripts_.result = labels(result_, ellipsis_axes_);
  }

  void add_implicit_result() {
    std::map<char, int> count;
    for (const Part& part : inputs_) {
      for (char letter : part.letters) ++count[letter];
    }
    Part once;
    once.ellipsis = 0;
    for (const auto& [letter, times] : count) {
      if (times == 1) once.letters += letter;
    }
    subscripts_.result = labels(once, ellipsis_axes_);
  }

  std::string_view text_;
  const std::vector<TensorType>& types_;
  const Location& at_;
  std::vector<Part> inputs_;
  Part result_;
  bool is_explicit_ = false;
  std::size_t ellipsis_axes_ = 0;
  Subscripts subscripts_;
  /// The operand that gave a label its extent.
  std::map<int, std::size_t> met_;
};

/// Multiplications of a contraction of two operands, or elements of a result.
double product_of_extents(const Labels& labels, const std::map<int, std::int64_t>& extents) {
  double product = 1;
  for (int label : labels) product *= static_cast<double>(extents.at(label));
  return product;
}

Labels kept(const Labels& labels, const Labels& needed) {
  Labels list;
  for (int label : labels) {
    if (contains(needed, label)) list.push_back(label);
  }
  return list;
}

/// Dynamic programming over sets of operands (as bits): the cheapest way to contract each set is
/// the cheapest split of it into two.
class ExactOrder {
 public:
  ExactOrder(const std::vector<Labels>& operands, const Labels& result,
             const std::map<int, std::int64_t>& extents)
      : operands_(operands), best_(std::size_t{1} << operands.size()) {
    for (std::size_t set = 1; set < best_.size(); ++set) {
      Labels inside;
      Labels outside = result;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        Labels& side = (set >> i & 1) ? inside : outside;
        side = united(side, operands[i]);
      }
      best_[set].labels = kept(inside, outside);
      find_split(set, extents);
    }
  }

  ContractionOrder order() {
    for (std::size_t i = 0; i < operands_.size(); ++i) places_.push_back(std::size_t{1} << i);
    contract(best_.size() - 1);
    return std::move(order_);
  }

 private:
  struct Best {
    Labels labels;
    double cost = 0;
    /// One of the two sets to contract; 0 for a single operand.
    std::size_t left = 0;
  };

  void find_split(std::size_t set, const std::map<int, std::int64_t>& extents) {
    Best& best = best_[set];
    if ((set & (set - 1)) == 0) return;
    best.cost = std::numeric_limits<double>::infinity();
    // Each split once, with the last operand on the right: so that ties go from left to right.
    for (std::size_t left = (set - 1) & set; left > 0; left = (left - 1) & set) {
      if (left > (set ^ left)) continue;
      const Best& a = best_[left];
      const Best& b = best_[set ^ left];
      const double cost = a.cost + b.cost + product_of_extents(united(a.labels, b.labels), extents);
      if (cost < best.cost) {
        best.cost = cost;
        best.left = left;
      }
    }
  }

  /// Appends the contractions of a set; its result is then at the end of the list.
  void contract(std::size_t set) {
    const std::size_t left = best_[set].left;
    if (left == 0) return;
    contract(left);
    contract(set ^ left);
    const auto place = [&](std::size_t part) {
      return static_cast<std::size_t>(std::find(places_.begin(), places_.end(), part) -
                                      places_.begin());
    };
    const std::size_t a = place(left);
    const std::size_t b = place(set ^ left);
    order_.emplace_back(a, b);
    places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(std::max(a, b)));
    places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(std::min(a, b)));
    places_.push_back(set);
  }

  const std::vector<Labels>& operands_;
  std::vector<Best> best_;
  /// The sets that stand in the list of operands by now.
  std::vector<std::size_t> places_;
  ContractionOrder order_;
};

ContractionOrder greedy_order(std::vector<Labels> operands, const Labels& result,
                              const std::map<int, std::int64_t>& extents) {
  ContractionOrder order;
  while (operands.size() > 1) {
    std::pair<std::size_t, std::size_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < operands.size(); ++a) {
      for (std::size_t b = a + 1; b < operands.size(); ++b) {
        const double cost = product_of_extents(united(operands[a], operands[b]), extents);
        if (cost < least) {
          least = cost;
          best = {a, b};
        }
      }
    }
    const auto [a, b] = best;
    const Labels both = united(operands[a], operands[b]);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(b));
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(a));
    Labels needed = result;
    for (const Labels& other : operands) needed = united(needed, other);
    operands.push_back(kept(both, needed));
    order.push_back(best);
  }
  return order;
}

}  // namespace

Subscripts subscripts_of(std::string_view text, const std::vector<TensorType>& operands,
                         const Location& at) {
  return Reader(text, operands, at).read();
}

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels united(const Labels& a, const Labels& b) {
  Labels both = a;
  for (int label : b) {
    if (!contains(both, label)) both.push_back(label);
  }
  return both;
}

ContractionOrder contraction_order(const std::vector<Labels>& operands, const Labels& result,
                                   const std::map<int, std::int64_t>& extents) {
  constexpr std::size_t most_for_exact = 8;
  if (operands.size() < 2) return {};
  if (operands.size() == 2) return {{0, 1}};
  return operands.size() <= most_for_exact ? ExactOrder(operands, result, extents).order()
                                           : greedy_order(operands, result, extents);
}

}  // namespace hom

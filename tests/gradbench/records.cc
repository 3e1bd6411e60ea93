// tests/gradbench/records.cc -- reads named arrays from text
#include <hom/tests/gradbench/records.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <hom/core/operations/elementwise.h>

namespace hom::gradbench {
namespace {

/// Words of a text, one after the other.
class Words {
 public:
  Words(std::string text, std::string path) : text_(std::move(text)), path_(std::move(path)) {}

  bool at_end() {
    next_ = text_.find_first_not_of(" \n\r\t", next_);
    if (next_ == std::string::npos) next_ = text_.size();
    return next_ == text_.size();
  }
  std::string word() {
    expect(!at_end(), "ends in the middle of a record");
    const std::size_t end = std::min(text_.find_first_of(" \n\r\t", next_), text_.size());
    const std::string found = text_.substr(next_, end - next_);
    next_ = end;
    return found;
  }
  double number() {
    expect(!at_end(), "ends in the middle of a record");
    char* end = nullptr;
    const double value = std::strtod(text_.c_str() + next_, &end);
    expect(end != text_.c_str() + next_, "has a word where a number should be");
    next_ = static_cast<std::size_t>(end - text_.c_str());
    return value;
  }

 private:
  void expect(bool ok, const char* otherwise) const {
    require(ok, Location::current(), [&] { return Complaint{path_ + " " + otherwise}; });
  }

  std::string text_;
  std::string path_;
  std::size_t next_ = 0;
};

}  // namespace

Records Records::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), Location::current(),
          [&] { return Complaint{"no file " + path + " to read records from"}; });
  Words words({std::istreambuf_iterator<char>(file), {}}, path);
  Records records;
  records.path_ = path;
  while (!words.at_end()) {
    const std::string name = words.word();
    Shape shape(static_cast<std::size_t>(words.number()), 0);
    for (std::int64_t& extent : shape) extent = static_cast<std::int64_t>(words.number());
    const auto array = Array::allocate(f64[shape]);
    for (std::int64_t i = 0; i < array->type.size(); ++i) array->data<double>()[i] = words.number();
    records.all_[name] = Tensor(array);
  }
  return records;
}

const Tensor& Records::operator[](const std::string& name) const {
  const auto found = all_.find(name);
  require(found != all_.end(), Location::current(),
          [&] { return Complaint{path_ + " has no record `" + name + "`"}; });
  return found->second;
}

std::int64_t Records::integer(const std::string& name) const {
  return (*this)[name].item<std::int64_t>();
}

Tensor Records::integers(const std::string& name) const { return (*this)[name].astype(i64); }

}  // namespace hom::gradbench

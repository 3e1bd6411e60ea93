// tests/unit/digits_data_test.cc -- reading the digits, broken files, and the split.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>
#include <zlib.h>

#include <hom/core/error.h>
#include <hom/examples/digits/data.h>

namespace hom {
namespace {

// Tests run in the repository's root, or in a copy of it with the files that they ask for.
constexpr const char* kFile = "examples/digits/digits.csv.gz";

class DigitsDataTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = (std::filesystem::path(testing::TempDir()) / (std::string("digits_") + info->name()))
                .string();
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  // The message of the error that reading a file of these bytes gives.
  std::string error(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return error();
  }

  std::string error() const {
    try {
      read_digits(path_);
    } catch (const Error& error) {
      return error.what();
    }
    return "(no error)";
  }

  std::string path_;
};

std::string line(int ink, int label) {
  std::string text;
  for (int i = 0; i < kDigitPixels; ++i) text += std::to_string(ink) + ",";
  return text + std::to_string(label);
}

// `count` digits, each of which all of its pixels tell apart.
Digits numbered(std::int64_t count) {
  Digits digits;
  for (std::int64_t i = 0; i < count; ++i) {
    digits.pixels.insert(digits.pixels.end(), kDigitPixels, static_cast<float>(i));
    digits.labels.push_back(static_cast<std::int32_t>(i));
  }
  digits.count = count;
  return digits;
}

TEST_F(DigitsDataTest, TheDataSetIsWhole) {
  const Digits digits = read_digits(kFile);
  ASSERT_EQ(digits.count, 1797);
  ASSERT_EQ(digits.pixels.size(), 1797u * 64);
  ASSERT_EQ(digits.labels.size(), 1797u);
  EXPECT_EQ(digits.pixels[2], 5 / 16.0f);
  EXPECT_EQ(digits.labels[0], 0);
  EXPECT_EQ(digits.labels[1796], 8);
  EXPECT_EQ(*std::min_element(digits.pixels.begin(), digits.pixels.end()), 0);
  EXPECT_EQ(*std::max_element(digits.pixels.begin(), digits.pixels.end()), 1);
  double ink = 0;
  for (const float pixel : digits.pixels) ink += 16 * pixel;
  EXPECT_EQ(ink, 561718);
  const int counts[10] = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(std::count(digits.labels.begin(), digits.labels.end(), i), counts[i]) << i;
  }
}

TEST_F(DigitsDataTest, LinesMayEndInAnyWay) {
  for (const std::string& text :
       {line(4, 1) + "\n" + line(16, 9) + "\n", line(4, 1) + "\n" + line(16, 9),
        line(4, 1) + "\r\n" + line(16, 9) + "\r\n"}) {
    std::ofstream(path_, std::ios::binary) << text;
    const Digits digits = read_digits(path_);
    EXPECT_EQ(digits.labels, (std::vector<std::int32_t>{1, 9}));
    EXPECT_EQ(digits.pixels.front(), 0.25f);
    EXPECT_EQ(digits.pixels.back(), 1.0f);
  }
}

TEST_F(DigitsDataTest, AWrongLineIsNamed) {
  const std::string good = line(0, 0) + "\n";
  EXPECT_EQ(error(good + line(17, 0)), path_ + ":2: field 1 is '17', not an integer from 0 to 16");
  EXPECT_EQ(error(good + good + line(0, 10)),
            path_ + ":3: field 65 is '10', not an integer from 0 to 9");
  EXPECT_EQ(error(line(-1, 0)), path_ + ":1: field 1 is '-1', not an integer from 0 to 16");
  EXPECT_EQ(error(good + "1,2\n" + good), path_ + ":2: has 2 fields, not 65");
  EXPECT_EQ(error(good + "\n" + good), path_ + ":2: has 1 fields, not 65");
  EXPECT_EQ(error(line(0, 0) + ","), path_ + ":1: has 66 fields, not 65");
  for (const char* field : {"", "x", "1x", " 1", "1.0", "+1", "99999999999999999999999999"}) {
    const std::string text = field + line(0, 0).substr(1);
    EXPECT_EQ(error(text).substr(0, path_.size() + 12), path_ + ":1: field 1 ") << field;
  }
  EXPECT_EQ(error(""), path_ + ":1: the file has no digits");
}

TEST_F(DigitsDataTest, ADamagedFileIsAnError) {
  std::ifstream file(kFile, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  ASSERT_GT(whole.size(), 1000u);
  for (const std::size_t size : {whole.size() - 1, whole.size() - 8, whole.size() / 2}) {
    const std::string message = error(whole.substr(0, size));
    EXPECT_EQ(message.find(path_ + ":"), 0u) << message;
    EXPECT_NE(message.find("cut off"), std::string::npos) << message;
  }
  std::string wrong_sum = whole;
  wrong_sum[whole.size() - 8] = static_cast<char>(wrong_sum[whole.size() - 8] ^ 1);
  EXPECT_NE(error(wrong_sum).find("damaged"), std::string::npos);
}

TEST_F(DigitsDataTest, AMissingFileIsAnError) {
  EXPECT_EQ(error(), path_ + ": can't be opened: No such file or directory");
  std::filesystem::create_directory(path_);
  EXPECT_EQ(error(), path_ + ": can't be read: Is a directory");
}

TEST_F(DigitsDataTest, ASplitDealsEveryDigitOnce) {
  const Digits all = numbered(100);
  Digits train;
  Digits test;
  shuffle_split(all, 30, 7, &train, &test);
  EXPECT_EQ(train.count, 70);
  EXPECT_EQ(test.count, 30);
  std::set<std::int32_t> seen;
  for (const Digits* part : {&train, &test}) {
    ASSERT_EQ(part->labels.size(), static_cast<std::size_t>(part->count));
    ASSERT_EQ(part->pixels.size(), static_cast<std::size_t>(part->count * kDigitPixels));
    for (std::size_t i = 0; i < part->labels.size(); ++i) {
      seen.insert(part->labels[i]);
      EXPECT_EQ(part->pixels[i * kDigitPixels], static_cast<float>(part->labels[i]));
      EXPECT_EQ(part->pixels[i * kDigitPixels + 63], static_cast<float>(part->labels[i]));
    }
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST_F(DigitsDataTest, ASplitIsTheSameEverywhere) {
  Digits train;
  Digits test;
  shuffle_split(numbered(10), 4, 1, &train, &test);
  EXPECT_EQ(test.labels, (std::vector<std::int32_t>{1, 7, 3, 9}));
  EXPECT_EQ(train.labels, (std::vector<std::int32_t>{4, 0, 5, 2, 6, 8}));
  Digits other;
  shuffle_split(numbered(10), 4, 2, &other, &test);
  EXPECT_NE(other.labels, train.labels);
}

TEST_F(DigitsDataTest, EveryOrderIsAsLikely) {
  std::vector<int> counts(6);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    Digits train;
    Digits test;
    shuffle_split(numbered(3), 0, seed, &train, &test);
    const std::vector<std::int32_t>& order = train.labels;
    ++counts[2 * static_cast<std::size_t>(order[0]) + (order[1] > order[2] ? 1 : 0)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST_F(DigitsDataTest, ASplitMayReplaceItsInputAndBeEmpty) {
  Digits all = numbered(5);
  Digits test;
  shuffle_split(all, 2, 0, &all, &test);
  EXPECT_EQ(all.count, 3);
  EXPECT_EQ(test.count, 2);
  Digits train;
  shuffle_split(all, 3, 0, &train, &test);
  EXPECT_EQ(train.count, 0);
  EXPECT_EQ(test.count, 3);
  shuffle_split(Digits{}, 0, 0, &train, &test);
  EXPECT_EQ(test.count, 0);
}

TEST_F(DigitsDataTest, AnImpossibleSplitIsAnError) {
  Digits train;
  Digits test;
  EXPECT_THROW(shuffle_split(numbered(5), 6, 0, &train, &test), Error);
  EXPECT_THROW(shuffle_split(numbered(5), -1, 0, &train, &test), Error);
  Digits broken = numbered(5);
  broken.labels.pop_back();
  EXPECT_THROW(shuffle_split(broken, 1, 0, &train, &test), Error);
}

}  // namespace
}  // namespace hom

// tests/unit/npz_test.cc -- NumPy files: round trips, what numpy itself wrote, and broken files.
#include <hom/core/npz.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>

#include <gtest/gtest.h>

#include <hom/core/error.h>

namespace hom {
namespace {

using Arrays = std::vector<std::pair<std::string, NumpyArray>>;

// numpy.savez(path, w=numpy.arange(6, dtype="<i2").reshape(2, 3), b=numpy.float32(1.5)), NumPy 2.4.
constexpr std::string_view kSavez =
    "504b03042d0000000000000021001a4e987effffffffffffffff05001400772e6e7079010010008c000000000000"
    "008c00000000000000934e554d5059010076007b276465736372273a20273c6932272c2027666f727472616e5f6f"
    "72646572273a2046616c73652c20277368617065273a2028322c2033292c207d2020202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a00"
    "0001000200030004000500504b03042d0000000000000021002513e65dffffffffffffffff05001400622e6e7079"
    "0100100084000000000000008400000000000000934e554d5059010076007b276465736372273a20273c6634272c"
    "2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028292c207d20202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "2020202020202020200a0000c03f504b01022d032d0000000000000021001a4e987e8c0000008c00000005000000"
    "0000000000000000800100000000772e6e7079504b01022d032d0000000000000021002513e65d84000000840000"
    "000500000000000000000000008001c3000000622e6e7079504b05060000000002000200660000007e0100000000";

// numpy.savez_compressed(path, w=numpy.zeros((2, 3), "<f4"), flags=numpy.array([True, False])).
constexpr std::string_view kSavezCompressed =
    "504b03042d00000008000000210078b32618ffffffffffffffff05001400772e6e70790100100098000000000000"
    "0049000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f"
    "5f94920a12774bcc294e058a17672416a402f91a463a0ac69a3a0ab50a64032e061c0000504b03042d0000000800"
    "00002100ee19bb5dffffffffffffffff09001400666c6167732e6e70790100100082000000000000004600000000"
    "0000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e9364a8aea3a09e965f54529498179f5f94920a1277"
    "4bcc294e058a17672416a402f91a463a9a3a0ab50a14002e460600504b01022d032d00000008000000210078b326"
    "184900000098000000050000000000000000000000800100000000772e6e7079504b01022d032d00000008000000"
    "2100ee19bb5d4600000082000000090000000000000000000000800180000000666c6167732e6e7079504b050600"
    "000000020002006a000000010100000000";

// numpy.save(path, numpy.asfortranarray(numpy.arange(6, dtype="<i2").reshape(2, 3))).
constexpr std::string_view kSaveFortran =
    "934e554d5059010076007b276465736372273a20273c6932272c2027666f727472616e5f6f72646572273a205472"
    "75652c20277368617065273a2028322c2033292c207d202020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020200a00000300010004000200"
    "0500";

// numpy.save(path, numpy.arange(6, dtype=">i2").reshape(2, 3)).
constexpr std::string_view kSaveBigEndian =
    "934e554d5059010076007b276465736372273a20273e6932272c2027666f727472616e5f6f72646572273a204661"
    "6c73652c20277368617065273a2028322c2033292c207d2020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020200a00000001000200030004"
    "0005";

std::string unhex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// An empty directory of this test's own, removed at its end.
class NpzTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) / (std::string("npz_") + info->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  static std::string get(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_),
                                                  std::filesystem::directory_iterator()));
  }

  std::filesystem::path directory_;
};

template <typename T>
NumpyArray array_of(const std::string& descr, std::vector<std::int64_t> shape,
                    const std::vector<T>& values) {
  NumpyArray array{descr, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

template <typename T>
std::vector<T> values_of(const NumpyArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

void expect_same(const Arrays& a, const Arrays& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].first, b[i].first);
    EXPECT_EQ(a[i].second.descr, b[i].second.descr) << a[i].first;
    EXPECT_EQ(a[i].second.shape, b[i].second.shape) << a[i].first;
    EXPECT_EQ(a[i].second.data, b[i].second.data) << a[i].first;
  }
}

// The message of the error that `f` throws.
template <typename F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

// An .npy file with this dictionary for a header.
std::string npy(const std::string& dictionary, const std::string& data, int major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  const std::size_t size = dictionary.size() + 1;
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file += static_cast<char>(size >> 8 * i & 0xff);
  return file + dictionary + "\n" + data;
}

// Every element type, with shapes of rank 0 to 3, and empty ones.
Arrays every_type() {
  using I4 = std::numeric_limits<std::int32_t>;
  using I8 = std::numeric_limits<std::int64_t>;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  return {
      {"b1", array_of<std::uint8_t>("|b1", {3}, {1, 0, 1})},
      {"i1", array_of<std::int8_t>("|i1", {2, 2}, {-128, -1, 0, 127})},
      {"i2", array_of<std::int16_t>("<i2", {2}, {-32768, 32767})},
      {"i4", array_of<std::int32_t>("<i4", {1, 2, 1}, {I4::min(), I4::max()})},
      {"i8", array_of<std::int64_t>("<i8", {2}, {I8::min(), I8::max()})},
      {"u1", array_of<std::uint8_t>("|u1", {2}, {0, 255})},
      {"u2", array_of<std::uint16_t>("<u2", {1}, {65535})},
      {"u4", array_of<std::uint32_t>("<u4", {1}, {0xfffffffeu})},
      {"u8", array_of<std::uint64_t>("<u8", {1}, {0xfffffffffffffffeu})},
      {"f2", array_of<std::uint16_t>("<f2", {3}, {0x3c00, 0xfc00, 0x7e01})},
      {"f4", array_of<float>("<f4", {2, 3}, {0, -0.0f, 1.5f, kInf, -kInf, 1e-45f})},
      {"f8", array_of<double>("<f8", {}, {0.1})},
      {"none", array_of<double>("<f8", {0}, {})},
      {"layer/0/none", array_of<float>("<f4", {3, 0, 2}, {})},
  };
}

TEST_F(NpzTest, EveryTypeSurvivesAnArchive) {
  write_npz(path("a.npz"), every_type());
  expect_same(read_npz(path("a.npz")), every_type());
  EXPECT_EQ(files(), 1u) << "no temporary file is left";
}

TEST_F(NpzTest, EveryTypeSurvivesASingleFile) {
  for (const auto& [name, array] : every_type()) {
    write_npy(path("a.npy"), array);
    expect_same({{name, read_npy(path("a.npy"))}}, {{name, array}});
  }
  EXPECT_EQ(files(), 1u) << "no temporary file is left";
}

TEST_F(NpzTest, AnEmptyArchiveIsAnArchive) {
  write_npz(path("a.npz"), {});
  EXPECT_TRUE(read_npz(path("a.npz")).empty());
}

TEST_F(NpzTest, NamesMayHaveAnySpelling) {
  const NumpyArray one = array_of<float>("<f4", {1}, {1});
  const Arrays arrays{{"größe", one}, {"a.npy", one}, {"/x", one}, {" ", one}, {"a", one}};
  write_npz(path("a.npz"), arrays);
  expect_same(read_npz(path("a.npz")), arrays);
}

TEST_F(NpzTest, TheSameArraysGiveTheSameBytes) {
  write_npz(path("a.npz"), every_type());
  write_npz(path("b.npz"), every_type());
  const std::string bytes = get(path("a.npz"));
  EXPECT_EQ(bytes, get(path("b.npz")));
  // A local header holds time (0) and date (1980-01-01) at bytes 10 to 13.
  EXPECT_EQ(bytes.substr(10, 4), std::string("\0\0\x21\0", 4));
}

TEST_F(NpzTest, AHeaderHasTheBytesThatNumpyWrites) {
  write_npy(path("a.npy"), array_of<std::int16_t>("<i2", {2, 3}, {0, 1, 2, 3, 4, 5}));
  std::string expected = unhex(kSaveFortran).substr(0, 128);
  expected.replace(expected.find("True, "), 6, "False,");
  expected.replace(expected.find("False,") + 6, 0, " ");
  expected.erase(126, 1);
  EXPECT_EQ(get(path("a.npy")).substr(0, 128), expected);
}

TEST_F(NpzTest, ReadsWhatSavezWrites) {
  expect_same(read_npz(put("a.npz", unhex(kSavez))),
              {{"w", array_of<std::int16_t>("<i2", {2, 3}, {0, 1, 2, 3, 4, 5})},
               {"b", array_of<float>("<f4", {}, {1.5f})}});
}

TEST_F(NpzTest, ReadsWhatSavezCompressedWrites) {
  expect_same(read_npz(put("a.npz", unhex(kSavezCompressed))),
              {{"w", array_of<float>("<f4", {2, 3}, {0, 0, 0, 0, 0, 0})},
               {"flags", array_of<std::uint8_t>("|b1", {2}, {1, 0})}});
}

TEST_F(NpzTest, FortranOrderBecomesCOrder) {
  expect_same({{"", read_npy(put("a.npy", unhex(kSaveFortran)))}},
              {{"", array_of<std::int16_t>("<i2", {2, 3}, {0, 1, 2, 3, 4, 5})}});
}

TEST_F(NpzTest, FortranOrderOfThreeDimensionsBecomesCOrder) {
  // Element (i, j, k) of this (2, 3, 4) array is 100 i + 10 j + k, stored with i fastest.
  std::string data;
  std::vector<std::uint8_t> expected;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) data += static_cast<char>(100 * i + 10 * j + k);
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) {
        expected.push_back(static_cast<std::uint8_t>(100 * i + 10 * j + k));
      }
    }
  }
  const std::string file =
      npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }", data);
  EXPECT_EQ(values_of<std::uint8_t>(read_npy(put("a.npy", file))), expected);
}

TEST_F(NpzTest, BigEndianBecomesLittleEndian) {
  expect_same({{"", read_npy(put("a.npy", unhex(kSaveBigEndian)))}},
              {{"", array_of<std::int16_t>("<i2", {2, 3}, {0, 1, 2, 3, 4, 5})}});
  const std::string both = npy("{'descr': '>u4', 'fortran_order': True, 'shape': (1, 2), }",
                               "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(values_of<std::uint32_t>(read_npy(put("b.npy", both))),
            (std::vector<std::uint32_t>{0x01020304, 0x05060708}));
}

TEST_F(NpzTest, HeadersMayBeSpelledFreely) {
  for (const char* header : {"{'descr':'<i2','fortran_order':False,'shape':(1,)}",
                             "{ 'shape' : ( 1 , ) , \"descr\": \"<i2\", 'fortran_order': False , }",
                             "{'descr': '<i2', 'fortran_order': False, 'shape': (1L,), }",
                             "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 1), }"}) {
    for (const int major : {1, 2, 3}) {
      const NumpyArray array =
          read_npy(put("a.npy", npy(header, std::string("\x07\x00", 2), major)));
      EXPECT_EQ(values_of<std::int16_t>(array), std::vector<std::int16_t>{7}) << header;
    }
  }
}

TEST_F(NpzTest, AMalformedHeaderIsAnError) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected '{'"},
      {"{", "expected a string"},
      {"{}", "'descr' is missing"},
      {"{'descr': '<f4', 'shape': ()}", "'fortran_order' is missing"},
      {"{'descr': '<f4', 'fortran_order': False}", "'shape' is missing"},
      {"{'descr': '<f4', 'descr': '<f4'}", "'descr' is repeated"},
      {"{'color': 3}", "unknown key 'color'"},
      {"{'descr", "no end"},
      {"{'descr' '<f4'}", "expected ':'"},
      {"{'descr': '<f4' 'shape': ()}", "expected '}'"},
      {"{'descr': 4}", "expected a string"},
      {"{'descr': '<f4', 'fortran_order': 0}", "neither True nor False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", "not a tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "expected '('"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "expected ','"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "not a tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}", "not a tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "negative extent"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} 1", "after the dictionary"},
  };
  for (const auto& [header, part] : cases) {
    SCOPED_TRACE(header);
    const std::string file = put("a.npy", npy(header, "1234"));
    const std::string message = message_of([&] { read_npy(file); });
    expect_part(message, file);
    expect_part(message, part);
  }
}

TEST_F(NpzTest, AnUnknownElementTypeIsAnError) {
  for (const char* descr :
       {"<c8", "|O", "<f16", "<U5", "|V2", "f4", "|f4", "<b2", "=f4", "", "<f ", "< f", "<M8[s]"}) {
    const std::string file = put("a.npy", npy(std::string("{'descr': '") + descr +
                                                  "', 'fortran_order': False, 'shape': (), }",
                                              "12345678"));
    const std::string message = message_of([&] { read_npy(file); });
    expect_part(message, file);
    expect_part(message, std::string("unknown element type '") + descr + "'");
  }
  const std::string record =
      put("b.npy", npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (), }", "1234"));
  expect_part(message_of([&] { read_npy(record); }), "structured element types");
}

TEST_F(NpzTest, ASizeThatOverflowsIsAnError) {
  for (const char* shape : {"(4611686018427387904, 4)", "(4294967296, 4294967296)",
                            "(9223372036854775807,)", "(0, 9223372036854775807, 2)"}) {
    const std::string file =
        put("a.npy",
            npy(std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + ", }",
                "1234"));
    expect_part(message_of([&] { read_npy(file); }), std::string("shape ") + shape);
    expect_part(message_of([&] { read_npy(file); }), "too large");
  }
  // This many bytes could be addressed, but the file doesn't have them: nothing is set aside.
  const std::string file = put(
      "a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}", "12"));
  expect_part(message_of([&] { read_npy(file); }), "truncated");
  std::string shape = "(";
  for (int i = 0; i < 33; ++i) shape += "1,";
  put("a.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ")}", "1"));
  expect_part(message_of([&] { read_npy(file); }), "33 dimensions");
}

TEST_F(NpzTest, EveryTruncationOfAFileIsAnError) {
  const std::string whole = unhex(kSaveFortran);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string file = put("a.npy", whole.substr(0, size));
    const std::string message = message_of([&] { read_npy(file); });
    expect_part(message, file);
    EXPECT_TRUE(message.find("truncated") != std::string::npos ||
                (size < 6 && message.find("not an .npy file") != std::string::npos))
        << size << ": " << message;
  }
  put("a.npy", whole + "x");
  expect_part(message_of([&] { read_npy(path("a.npy")); }), "bytes left over");
}

TEST_F(NpzTest, EveryTruncationOfAnArchiveIsAnError) {
  const std::string whole = unhex(kSavezCompressed);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string file = put("a.npz", whole.substr(0, size));
    expect_part(message_of([&] { read_npz(file); }), file);
  }
}

TEST_F(NpzTest, EveryFlippedByteOfAnArchiveIsHarmlessOrAnError) {
  for (const std::string& whole : {unhex(kSavez), unhex(kSavezCompressed)}) {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ 0xff);
      const std::string file = put("a.npz", bytes);
      const std::string message = message_of([&] { read_npz(file); });
      if (message != "(no error)") expect_part(message, file);
    }
  }
}

TEST_F(NpzTest, DamagedDataFailsItsChecksum) {
  std::string bytes = unhex(kSavez);
  bytes[bytes.find('\n', bytes.find("'shape'")) + 1] = 9;
  const std::string file = put("a.npz", bytes);
  const std::string message = message_of([&] { read_npz(file); });
  expect_part(message, file + ": entry 'w': ");
  expect_part(message, "CRC");
}

TEST_F(NpzTest, ABrokenEntryIsNamed) {
  std::string bytes = unhex(kSavez);
  bytes.replace(bytes.find("(2, 3)"), 6, "(9, 3)");
  std::string message = message_of([&] { read_npz(put("a.npz", bytes)); });
  expect_part(message, path("a.npz") + ": entry 'w': truncated: shape (9, 3) of '<i2' needs 54");
  bytes = unhex(kSavez);
  bytes.replace(bytes.find("<f4"), 3, "<c4");
  message = message_of([&] { read_npz(put("a.npz", bytes)); });
  expect_part(message, path("a.npz") + ": entry 'b': unknown element type '<c4'");
}

TEST_F(NpzTest, AnEntryCannotClaimMoreThanTheFileHolds) {
  std::string bytes = unhex(kSavezCompressed);
  const std::size_t central = bytes.find(std::string("PK\x01\x02"));
  ASSERT_NE(central, std::string::npos);
  bytes.replace(central + 24, 4, "\xf0\xff\xff\x7f");
  expect_part(message_of([&] { read_npz(put("a.npz", bytes)); }), "claims 2147483632 bytes");
}

TEST_F(NpzTest, AnEntryOfAnotherKindOrARepeatedNameIsAnError) {
  std::string bytes = unhex(kSavez);
  for (std::size_t at = 0; (at = bytes.find("w.npy", at)) != std::string::npos;) {
    bytes.replace(at, 5, "w.txt");
  }
  expect_part(message_of([&] { read_npz(put("a.npz", bytes)); }), "'w.txt' is not a named .npy");
  bytes = unhex(kSavez);
  for (std::size_t at = 0; (at = bytes.find("w.npy", at)) != std::string::npos;) {
    bytes.replace(at, 5, "b.npy");
  }
  expect_part(message_of([&] { read_npz(put("a.npz", bytes)); }),
              "entry 'b': the name is repeated");
}

TEST_F(NpzTest, AMissingFileOrOneOfAnotherKindIsAnError) {
  const std::string missing = path("missing");
  expect_part(message_of([&] { read_npz(missing); }), missing + ": can't be opened: No such file");
  expect_part(message_of([&] { read_npy(missing); }), missing + ": can't be opened: No such file");
  expect_part(message_of([&] { read_npz(directory_.string()); }), directory_.string());
  expect_part(message_of([&] { read_npy(directory_.string()); }), directory_.string());
  const std::string text = put("a", "some text that is long enough to be neither");
  expect_part(message_of([&] { read_npz(text); }), text + ": not an .npz archive");
  expect_part(message_of([&] { read_npy(text); }), text + ": not an .npy file");
  const std::string empty = put("b", "");
  expect_part(message_of([&] { read_npz(empty); }), empty + ": not an .npz archive");
  expect_part(message_of([&] { read_npy(empty); }), empty + ": not an .npy file");
}

TEST_F(NpzTest, WhatCannotBeReadIsNotWritten) {
  const NumpyArray good = array_of<float>("<f4", {1}, {1});
  const auto attempt = [&](const Arrays& arrays) {
    return message_of([&] { write_npz(path("a.npz"), arrays); });
  };
  expect_part(attempt({{"", good}}), "name is empty");
  expect_part(attempt({{"w", good}, {"w", good}}), "entry 'w': the name is repeated");
  expect_part(attempt({{std::string("a\0b", 3), good}}), "NUL");
  expect_part(attempt({{std::string(65532, 'a'), good}}), "65531");
  expect_part(attempt({{"\xff\xfe", good}}), "can't be added");
  expect_part(attempt({{"w", {"<f4", {2}, good.data}}}), "shape (2,) of '<f4' needs 8");
  expect_part(attempt({{"w", {"<c8", {}, good.data}}}), "unknown element type '<c8'");
  expect_part(attempt({{"w", {">f4", {1}, good.data}}}), "big endian");
  expect_part(attempt({{"w", {"<f4", {-1}, good.data}}}), "negative extent");
  expect_part(attempt({{"w", {"<f4", std::vector<std::int64_t>(33, 1), good.data}}}), "33 dim");
  expect_part(message_of([&] { write_npy(path("a.npy"), {"<f4", {2}, good.data}); }), "needs 8");
  EXPECT_EQ(files(), 0u);
}

TEST_F(NpzTest, AFailedWriteLeavesTheOldFile) {
  const NumpyArray one = array_of<float>("<f4", {1}, {1});
  write_npz(path("a.npz"), {{"w", one}});
  const std::string before = get(path("a.npz"));
  EXPECT_THROW(write_npz(path("a.npz"), {{"w", {"<f4", {2}, one.data}}}), Error);
  EXPECT_EQ(get(path("a.npz")), before);
  write_npz(path("a.npz"), {{"v", one}});
  EXPECT_EQ(read_npz(path("a.npz")).at(0).first, "v");
  // The place of the file is taken by a directory, or its own directory is missing.
  std::filesystem::create_directory(path("d"));
  expect_part(message_of([&] { write_npz(path("d"), {{"w", one}}); }), "can't be written");
  expect_part(message_of([&] { write_npy(path("d"), one); }), "can't be written");
  expect_part(message_of([&] { write_npz(path("no/a.npz"), {{"w", one}}); }), "can't be written");
  expect_part(message_of([&] { write_npy(path("no/a.npy"), one); }), "No such file");
  EXPECT_EQ(files(), 2u);
}

}  // namespace
}  // namespace hom

#include "tools/stores/store_url.hpp"

#include <filesystem>

#include "tests/support/matchers.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {
namespace {

TEST(StoreUrl, IsTakenApart) {
  struct Parts {
    std::string url;
    std::string user;
    std::optional<std::string> password;
    std::vector<StoreHost> hosts;
    std::string path;
    std::string name;
  };
  const std::optional<std::string> none;
  const std::vector<Parts> all{
      {"lmdb:/var/lib/key%20sieve", "", none, {}, "/var/lib/key sieve", "lmdb:/var/lib/key sieve"},
      {"dir:/srv/../初音ミク/./a b", "", none, {}, "/srv/../初音ミク/./a b", "dir:/srv/../初音ミク/./a b"},
      {"dir:///srv/a", "", none, {}, "/srv/a", "dir:/srv/a"},
      {"redis://app:p%40s%3As@cache.example:6380/3",
       "app",
       "p@s:s",
       {{"cache.example", 6380}},
       "/3",
       "redis://app@cache.example:6380/3"},
      {"redis://:s3cret@cache", "", "s3cret", {{"cache", 0}}, "", "redis://cache"},
      {"redis://[::1]:6379", "", none, {{"::1", 6379}}, "", "redis://[::1]:6379"},
      {"redis-cluster://app:a,b@one:7000,two,[::1]:7002/0?timeout=1s",
       "app",
       "a,b",
       {{"one", 7000}, {"two", 0}, {"::1", 7002}},
       "/0",
       "redis-cluster://app@one:7000,two,[::1]:7002/0"},
      {"redis+unix:///run/redis.sock?db=2", "", none, {}, "/run/redis.sock", "redis+unix:///run/redis.sock"},
      {"redis+unix://app:s3cret@/run/redis.sock",
       "app",
       "s3cret",
       {},
       "/run/redis.sock",
       "redis+unix://app@/run/redis.sock"},
  };
  for (const Parts& parts : all) {
    const StoreUrl url = parse_store_url(parts.url);
    EXPECT_EQ(url.user, parts.user) << parts.url;
    EXPECT_EQ(url.password, parts.password) << parts.url;
    EXPECT_EQ(url.hosts, parts.hosts) << parts.url;
    EXPECT_EQ(url.path, parts.path) << parts.url;
    EXPECT_EQ(url.name, parts.name) << parts.url;
    EXPECT_EQ(url.prefix, "keysieve") << parts.url;
  }
}

TEST(StoreUrl, HasAPrefixAndParameters) {
  const StoreUrl url = parse_store_url("lmdb:/a?map_size=1GiB&prefix=shop");
  EXPECT_EQ(url.scheme, "lmdb");
  EXPECT_EQ(url.prefix, "shop");
  EXPECT_EQ(url.parameters, (std::map<std::string, std::string>{{"map_size", "1GiB"}}));
}

TEST(StoreUrl, BecomesAbsoluteFromTheWorkingDirectory) {
  const test::TemporaryDirectory directory;
  const std::string folder = directory / "50% #1?";
  std::filesystem::create_directory(folder);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  EXPECT_EQ(parse_store_url(absolute_store_url("lmdb:store?prefix=shop")).name, "lmdb:" + folder + "/store");
  EXPECT_EQ(parse_store_url(absolute_store_url("dir:../a%20b/c")).path, folder + "/../a b/c");
  for (const char* url : {"lmdb:/store", "dir:///store", "lmdb:", "dir:?prefix=a", "redis:store",
                          "redis+unix:store", "tags.ks", "store"}) {
    EXPECT_EQ(absolute_store_url(url), url);
  }
  std::filesystem::remove(folder);
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>([] { absolute_store_url("lmdb:store"); }),
              HasSubstr("working directory: "));
  std::filesystem::current_path(before);
}

TEST(StoreUrl, IsToldFromAFilePath) {
  for (const char* url : {"lmdb:/a", "redis://h", "redis-cluster://h,i", "redis-sentinel://h/m", "rediss://h",
                          "redis+unix:///a", "dir:/a"}) {
    EXPECT_TRUE(is_store_url(url)) << url;
  }
  for (const char* path :
       {"", "tags.ks", "/var/tags.ks", "lmdb", "redis.ks", "ftp://h", "directory:/a", ":"}) {
    EXPECT_FALSE(is_store_url(path)) << path;
  }
}

// The others, with their reasons: store_urls.transcript; none shows a password: secrets.transcript.
TEST(StoreUrl, IsRefusedWithANulOrARelativePath) {
  for (const std::string& url : {std::string("redis://h\0@x", 12), std::string("lmdb:relative/path")}) {
    EXPECT_EQ(failure_of([&] { open_store(url); }), ErrorKind::Usage) << url;
    EXPECT_EQ(failure_of([&] { check_store_url(url); }), ErrorKind::Usage) << url;
  }
}

}  // namespace
}  // namespace keysieve::test

#include "tools/stores/store_url.hpp"

#include <filesystem>

#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {
namespace {

TEST(StoreUrl, TakesAPathApart) {
  const StoreUrl url = parse_store_url("lmdb:/var/lib/key%20sieve?map_size=1GiB&prefix=shop");
  EXPECT_EQ(url.scheme, "lmdb");
  EXPECT_EQ(url.path, "/var/lib/key sieve");
  EXPECT_EQ(url.prefix, "shop");
  EXPECT_TRUE(url.hosts.empty());
  EXPECT_EQ(url.parameters, (std::map<std::string, std::string>{{"map_size", "1GiB"}}));
  EXPECT_EQ(url.name, "lmdb:/var/lib/key sieve");
}

TEST(StoreUrl, KeepsAPathAsItIs) {
  EXPECT_EQ(parse_store_url("dir:/srv/../初音ミク/./a b").path, "/srv/../初音ミク/./a b");
  EXPECT_EQ(parse_store_url("dir:///srv/a").path, "/srv/a");
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

TEST(StoreUrl, TakesAHostApart) {
  const StoreUrl url = parse_store_url("redis://app:p%40s%3As@cache.example:6380/3");
  EXPECT_EQ(url.user, "app");
  EXPECT_EQ(url.password, "p@s:s");
  EXPECT_THAT(url.hosts, ElementsAre(StoreHost{"cache.example", 6380}));
  EXPECT_EQ(url.path, "/3");
  EXPECT_EQ(url.prefix, "keysieve");
  EXPECT_EQ(url.name, "redis://app@cache.example:6380/3");
}

TEST(StoreUrl, KnowsAPasswordWithoutAUser) {
  const StoreUrl url = parse_store_url("redis://:s3cret@cache");
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.password, "s3cret");
  EXPECT_EQ(url.name, "redis://cache");
}

TEST(StoreUrl, TakesTheBracketsOffAnIpv6Address) {
  const StoreUrl url = parse_store_url("redis://[::1]:6379");
  EXPECT_THAT(url.hosts, ElementsAre(StoreHost{"::1", 6379}));
  EXPECT_EQ(url.name, "redis://[::1]:6379");
}

TEST(StoreUrl, TakesSeveralHostsApart) {
  const StoreUrl url = parse_store_url("redis-cluster://app:a,b@one:7000,two,[::1]:7002/0?timeout=1s");
  EXPECT_THAT(url.hosts, ElementsAre(StoreHost{"one", 7000}, StoreHost{"two", 0}, StoreHost{"::1", 7002}));
  EXPECT_EQ(url.user, "app");
  EXPECT_EQ(url.password, "a,b");
  EXPECT_EQ(url.path, "/0");
  EXPECT_EQ(url.name, "redis-cluster://app@one:7000,two,[::1]:7002/0");
}

TEST(StoreUrl, TakesAUnixSocketApart) {
  const StoreUrl plain = parse_store_url("redis+unix:///run/redis.sock?db=2");
  EXPECT_EQ(plain.path, "/run/redis.sock");
  EXPECT_EQ(plain.name, "redis+unix:///run/redis.sock");
  const StoreUrl signed_in = parse_store_url("redis+unix://app:s3cret@/run/redis.sock");
  EXPECT_EQ(signed_in.user, "app");
  EXPECT_EQ(signed_in.password, "s3cret");
  EXPECT_EQ(signed_in.path, "/run/redis.sock");
  EXPECT_TRUE(signed_in.hosts.empty());
  EXPECT_EQ(signed_in.name, "redis+unix://app@/run/redis.sock");
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

struct Refusal {
  std::string url;
  std::string reason;
};

TEST(StoreUrl, IsRefusedWithTheReason) {
  const std::vector<Refusal> refusals{
      {"mysql://h", "store \"mysql\" is not known"},
      {"tags.ks", "is not known"},
      {"lmdb:relative/path", "an absolute path or //host must follow"},
      {"lmdb:", "an absolute path or //host must follow"},
      {"lmdb:/", "must be lmdb:/path/to/folder"},
      {"lmdb://host/path", "must be lmdb:/path/to/folder"},
      {"dir:/a%00b", "control character"},
      {"dir:/a#b", "%23"},
      {"dir:/a?prefix", "name=value"},
      {"dir:/a?prefix=a&prefix=b", "given twice"},
      {"dir:/a?prefix=", "prefix must be"},
      {"dir:/a?prefix=a:b", "prefix must be"},
      {"dir:/a?prefix=a%00", "NUL"},
      {"dir:/a?prefix=" + std::string(65, 'a'), "prefix must be"},
      {"dir:/a?map_size=1GiB", "parameter map_size is not known"},
      {"dir:/a?timeout=soon", "timeout \"soon\" is not understood"},
      {"dir:/a?timeout=0s", "timeout must be above 0"},
      {"dir:/a?timeout=5", "timeout \"5\" is not understood: a duration is a whole number with its unit"},
      {"dir:/a?timeout=2d", "timeout must be at most a day"},
      {"lmdb:/a?map_size=much", "map_size \"much\" is not understood"},
      {"lmdb:/a?map_size=4096", "map_size must be at least 1MiB"},
      {"redis:///0", "one host must follow"},
      {"redis://a,b", "one host must follow"},
      {"redis-cluster:///0", "hosts must follow"},
      {"redis-cluster://a,,b", "a host is missing next to a comma"},
      {"redis-cluster://,b", "a host is missing next to a comma"},
      {"redis-cluster://a,", "a host is missing next to a comma"},
      {"redis-cluster://a,b:99999", "ort number"},
      {"redis-cluster://a,b/1", "a cluster has only database 0"},
      {"redis-cluster://a?failover=soon", "failover \"soon\" is not understood"},
      {"redis-cluster://a?failover=25h", "failover must be at most a day"},
      {"redis-sentinel://a,b", "must be redis-sentinel://sentinel,sentinel/name-of-master"},
      {"redis-sentinel://a/", "must be redis-sentinel://"},
      {"redis-sentinel:///mymaster", "must be redis-sentinel://"},
      {"redis-sentinel://a/mymaster/x", "the database must be a number"},
      {"redis-sentinel://a/mymaster/0/0", "the database must be a number"},
      {"redis://a?failover=1s", "parameter failover is not known"},
      {"redis://h:99999", "ort number"},
      {"redis://h/x", "the database must be a number"},
      {"redis://h/-1", "the database must be a number"},
      {"redis://h/1/2", "the database must be a number"},
      {"redis://app@h", "a user needs a password"},
      {"redis://:a@h?password_file=/f", "not both"},
      {"redis://h?wait_replicas=", "wait_replicas must be a number from 0 to 1000"},
      {"redis://h?wait_replicas=1001", "wait_replicas must be a number"},
      {"dir:/a?wait_replicas=1", "parameter wait_replicas is not known"},
      {"redis+unix://h/run/redis.sock", "must be redis+unix:///path/to.sock"},
      {"redis+unix:///s?db=zero", "the database must be a number"},
      {"redis+unix:///" + std::string(107, 's'), "107 bytes at most"},
      {"rediss://a,b", "one host must follow rediss://"},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_THAT(refusal_to_open<ErrorKind::Usage>(refusal.url), HasSubstr(refusal.reason)) << refusal.url;
  }
}

TEST(StoreUrl, NeverShowsAPasswordInARefusal) {
  for (const char* url : {
           "redis://:s3cret@h:99999",
           "redis://app:s3cret@h/x",
           "redis://app:s3cret@h/1?unknown=1",
           "redis://app:s3/s3cret@h/1",
           "redis://app:12/s3cret@h/1",
           "redis://app:s3?s3cret@h/1",
           "redis://app:s3#s3cret@h/1",
           "redis://app:s3@s3cret@h/1",
           "redis://app:s3 cret:s3cret@h:x",
           "redis://:s3cret@",
           "redis:s3cret@h",
           "redis+unix://app:s3cret@",
           "redis+unix://app:s3cret@/s?db=x",
           "rediss://:s3cret@h?cert_file=/f",
           "redis-cluster://app:s3cret@h,i:x",
           "redis-cluster://app:s3,s3cret@h,i/7",
           "redis-cluster://app:s3/s3cret@h,i",
           "memcached://app:s3cret@h",
           "https://app:s3cret@h/tags",
           "https://h/tags?authorization=s3cret",
           "lmdb://app:s3cret@/path",
           "redis//:s3cret@h",
           "redis://:s3cret@h?password_file=/f",
           "redis://h?password=s3cret",
           "redis://app:s3cret127.0.0.1:6379",
           "redis://app:s3cret,127.0.0.1:6379",
           "redis-cluster://app:s3cret,127.0.0.1:6379",
           "redis:/app:s3cret@127.0.0.1:6379/0",
           "redis:///app:s3cret@127.0.0.1:6379/0",
           "redis+unix:///app:s3cret@/run/redis.sock?unknown=1",
           "redis:/#app:s3cret@127.0.0.1",
       }) {
    const std::string message = refusal_to_open<ErrorKind::Usage>(url);
    EXPECT_THAT(message, Not(HasSubstr("s3cret"))) << url;
    EXPECT_NE(message, "") << url;
  }
}

}  // namespace
}  // namespace keysieve::test

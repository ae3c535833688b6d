#include "tools/stores/store_url.hpp"

#include <filesystem>

#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
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

struct Refusal {
  std::string url;
  std::string reason;
};

TEST(StoreUrl, IsRefusedWithTheReason) {
  const std::vector<Refusal> refusals{
      {"mysql://h", "store \"mysql\" is not known"},
      {"tags.ks", "is not known"},
      {std::string("redis://h\0@x", 12), "a NUL in it"},
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
      {"redis://:a@h?password_file=/f", "not both"},
      {"redis://h?wait_replicas=", "wait_replicas must be a number from 0 to 1000"},
      {"redis://h?wait_replicas=1001", "wait_replicas must be a number"},
      {"dir:/a?wait_replicas=1", "parameter wait_replicas is not known"},
      {"redis+unix://h/run/redis.sock", "must be redis+unix:///path/to.sock"},
      {"redis+unix:///s?db=zero", "the database must be a number"},
      {"redis+unix:///" + std::string(107, 's'), "107 bytes at most"},
      {"rediss://a,b", "one host must follow rediss://"},
      {"memcached:///path", "must be memcached://host[:port]"},
      {"memcached://cache/2", "must be memcached://host[:port]"},
      {"memcached://user@cache", "memcached knows no users"},
      {"memcached+unix://cache", "must be memcached+unix:///path/to.sock"},
      {"memcached+unix:///" + std::string(200, 'x'), "can have 107 bytes at most"},
      {"memcached://cache?timeout=0s", "timeout must be above 0"},
      {"https:///path", "must be https://host[:port]/path/"},
      {"https://one,two/", "must be https://host[:port]/path/"},
      {"https://user:s3cret@host/", "authorization comes from ?authorization_file="},
      {"http://host/?authorization_file=/a", "over https alone"},
      {"http://host/?ca_file=/a", "certificates are for https"},
      {"https://host/?cert_file=/a", "cert_file and key_file go together"},
      {"https://host/?authorization_file=", "authorization_file must name a file"},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_THAT(refusal_to_open<ErrorKind::Usage>(refusal.url), HasSubstr(refusal.reason)) << refusal.url;
    EXPECT_THAT(message_of<ErrorKind::Usage>([&] { check_store_url(refusal.url); }),
                HasSubstr(refusal.reason))
        << refusal.url;
  }
  EXPECT_THAT(refusal_to_open<ErrorKind::Usage>("redis://app@h"), HasSubstr("a user needs a password"))
      << "which the environment may have";
}

TEST(StoreUrl, NeverShowsAPasswordInARefusal) {
  for (const char* url : {
           "redis://:s3cret@h:99999",
           "redis://app:s3cret@h/x",
           "redis://app:s3cret@h/1?unknown=1",
           "redis://app:s3/s3cret@h/1",
           "redis://app:12/s3cret@h/1",
           "redis://app:s3?s3cret@h/1",
           "redis://app:12?s3cret=1@h/1",
           "redis://app:s3@/s3:s3cret@h",
           "redis://app:12?timeout=s3cret@h",
           "redis://app:12?s3cret=1&s3cret=2@h",
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

#ifndef KEYSIEVE_REDIS_TLS
TEST(StoreUrl, OfTlsIsRefusedByABuildWithoutIt) {
  for (const std::string url :
       {"rediss://127.0.0.1:1", "rediss-cluster://127.0.0.1:1", "rediss-sentinel://127.0.0.1:1/mymaster"}) {
    EXPECT_THAT(refusal_to_open<ErrorKind::Usage>(url + "?ca_file=/ca.crt"), StartsWith(url + ": "));
  }
}
#endif

}  // namespace
}  // namespace keysieve::test

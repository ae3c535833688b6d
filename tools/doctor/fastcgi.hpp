// One request to a FastCGI server, as a web server makes it. Own code, since Debian has a library for servers
// alone, and its program cgi-fcgi waits for ever.
#pragma once

#include <map>
#include <string>

namespace keysieve {

// Sends these parameters, and returns what the server writes to standard output: headers, an empty line,
// body. `address`: "unix:/path", "/path", "host:port" or "[::1]:port". Throws Usage for another,
// Unavailable that names it when the server cannot be reached or has not answered in full within ten
// seconds.
std::string ask_fastcgi(const std::string& address, const std::map<std::string, std::string>& parameters);

}  // namespace keysieve

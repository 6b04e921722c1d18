// What nearly every file of BoringSSL includes of the C++ library; see swift-build.sh.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

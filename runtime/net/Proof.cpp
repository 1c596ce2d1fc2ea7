// SPDX-License-Identifier: Apache-2.0
#include "net/Proof.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sodium.h>
#include <stdexcept>
#include <string>
#include <sys/random.h>
#include <system_error>
#include <tuple>

namespace gc3::net {

static_assert(std::tuple_size_v<Proof> == crypto_auth_hmacsha256_BYTES);

namespace {

/// The functions of libsodium that this file uses. The library is loaded at the first use: gc3's libraries depend only
/// on the C library, so that a process without libsodium can load them.
struct Sodium {
  decltype(&crypto_auth_hmacsha256_init) init;
  decltype(&crypto_auth_hmacsha256_update) update;
  decltype(&crypto_auth_hmacsha256_final) final;
  decltype(&crypto_generichash) hash;
  decltype(&sodium_memcmp) compare;
};

template <typename Function>
void find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (!function)
    throw std::runtime_error(std::string("libsodium.so.23 has no function ") + name);
}

/// Throws std::runtime_error if libsodium is not installed.
const Sodium &sodium() {
  static const Sodium loaded = [] {
    void *const library = ::dlopen("libsodium.so.23", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *const reason = ::dlerror();
      throw std::runtime_error(std::string("connections between ranks need libsodium: ") + (reason ? reason : ""));
    }
    Sodium found{};
    find(library, "crypto_auth_hmacsha256_init", found.init);
    find(library, "crypto_auth_hmacsha256_update", found.update);
    find(library, "crypto_auth_hmacsha256_final", found.final);
    find(library, "crypto_generichash", found.hash);
    find(library, "sodium_memcmp", found.compare);
    return found;
  }();
  return loaded;
}

/// Computes an HMAC-SHA256 of the added bytes.
class Authenticator {
public:
  Authenticator(const void *key, size_t size) { sodium().init(&state, static_cast<const unsigned char *>(key), size); }
  Authenticator &add(const void *bytes, size_t size) {
    sodium().update(&state, static_cast<const unsigned char *>(bytes), size);
    return *this;
  }
  Proof finish() {
    Proof proof{};
    sodium().final(&state, proof.data());
    return proof;
  }

private:
  crypto_auth_hmacsha256_state state{};
};

} // namespace

Token tokenOf(std::string_view text) {
  Token token{};
  sodium().hash(reinterpret_cast<unsigned char *>(token.data()), sizeof token,
                reinterpret_cast<const unsigned char *>(text.data()), text.size(), nullptr, 0);
  return token;
}

void fillRandomly(std::span<std::byte> bytes) {
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "the system gives no random numbers");
}

Nonce makeNonce() {
  Nonce nonce{};
  fillRandomly(std::as_writable_bytes(std::span(nonce)));
  return nonce;
}

Key::Key(const Token &token, std::string_view secret)
    : bytes(Authenticator(token.data(), sizeof token).add("key", 3).add(secret.data(), secret.size()).finish()) {
  const Proof tag = Authenticator(token.data(), sizeof token).add("tag", 3).finish();
  std::memcpy(&publicTag, tag.data(), sizeof publicTag);
}

Proof Key::prove(const Statement &statement) const {
  Authenticator authenticator(bytes.data(), bytes.size());
  authenticator.add(&statement.side, sizeof statement.side);
  authenticator.add(&statement.rank, sizeof statement.rank).add(&statement.ranks, sizeof statement.ranks);
  authenticator.add(statement.ofOther.data(), statement.ofOther.size());
  return authenticator.add(statement.ofRank0.data(), statement.ofRank0.size()).finish();
}

bool Key::isProven(const Statement &statement, const Proof &proof) const {
  const Proof expected = prove(statement);
  return sodium().compare(expected.data(), proof.data(), proof.size()) == 0;
}

} // namespace gc3::net

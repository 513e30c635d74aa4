import GraphQL

/// The settings file that `larder init` writes.
struct SettingsDraft {
  let url: String
  /// The names of header fields that every call must have; their values are never written.
  let headerNames: [String]
  /// `hasura` or `appsync`; nil for other upstreams.
  var dialect: String?
  let listen: String
  /// The root fields without an operation.
  var omitted: [OmittedField] = []

  /// The maximum number of ``omitted`` that the file names.
  private static let omittedMax = 100

  /// The variable that has the values of header fields.
  static let headersVariable = "LARDER_UPSTREAM_HEADERS"

  /// The value of ``headersVariable`` with places for the values.
  static func headersExample(_ names: [String]) -> String {
    "{" + names.map { "\(Printer.quoted($0)): \"VALUE\"" }.joined(separator: ", ") + "}"
  }

  /// An address as a YAML scalar: plain where it can have no other meaning.
  private static func scalar(_ address: String) -> String {
    let isPlain = address.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-._~:/?&=+%".utf8.contains(byte)
      }
    }
    let hasColonAtEnd = address.hasPrefix(":") || address.hasSuffix(":")
    return isPlain && !hasColonAtEnd ? address : Printer.quoted(address)
  }

  /// The vendor of an upstream, by its address and schema.
  static func dialect(url: String, schema: Schema) -> String? {
    let host = url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" && $0 != ":" }
    if host.contains(".appsync-api.") { return "appsync" }
    return schema.rootName(for: .query) == "query_root" ? "hasura" : nil
  }

  var text: String {
    var lines = [
      "# The settings of this service, written by `larder init`. `larder settings --reference` describes all.",
      "# Each can come from the environment too: `upstream.url` from LARDER_UPSTREAM_URL.",
      "",
      "listen: \(Self.scalar(listen))",
      "",
      "# The database and the files, created at the first start. Keep the folder out of version control.",
      "data: ./data",
      "",
      "upstream:",
      "  url: \(Self.scalar(url))",
    ]
    if let dialect {
      lines += [
        "  # Credentials, error codes and subscriptions of this vendor.", "  dialect: \(dialect)",
      ]
    }
    if headerNames.isEmpty {
      lines += [
        "  # To call the API as the caller, forward the token; responses are then stored for each caller:",
        "  # forward: [authorization]",
      ]
    } else {
      lines += [
        "  # Header fields of the service are secrets. They are read from the environment:",
        "  #   \(Self.headersVariable)='\(Self.headersExample(headerNames))'",
        "  # With them, callers must be signed in (see accounts), unless an operation says",
        "  # `@access(role: PUBLIC)`. To call the API with the caller's own token instead:",
        "  # forward: [authorization]",
      ]
    }
    lines += [
      "",
      "# The token of /v1/admin and of the console, with 32 characters or more. It is a secret: set it as",
      "# LARDER_ADMIN_TOKEN in the environment rather than here.",
      "# admin:",
      "#   token: …",
    ]
    if !omitted.isEmpty {
      lines += ["", "# Root fields of the API that no operation was written for:"]
      lines += omitted.prefix(Self.omittedMax).map { "#   \($0.line)" }
      if omitted.count > Self.omittedMax {
        lines.append("#   … and \(omitted.count - Self.omittedMax) more")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

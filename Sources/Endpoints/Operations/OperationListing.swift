import Gateway
import LosslessJSON
import Model

/// The response body of `GET /v1/operations`.
enum OperationListing {
  static func bytes(_ operations: [OperationDescription]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("operations")
    writer.beginArray()
    for operation in operations { write(operation, to: &writer) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private static func write(_ operation: OperationDescription, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("name", operation.name)
    writer.member("documentId", operation.documentID)
    if let description = operation.description { writer.member("description", description) }
    writer.member("kind", operation.kind.rawValue)
    if let upstream = operation.upstream { writer.member("upstream", upstream) }
    writer.member("method", operation.method)
    writer.name("paths")
    writer.beginArray()
    for path in operation.paths { writer.string(path) }
    writer.endArray()
    writer.name("variables")
    writer.beginArray()
    for variable in operation.variables { write(variable, to: &writer) }
    writer.endArray()
    if let policy = operation.policy { write(policy, to: &writer) }
    writer.member("access", operation.role ?? (operation.isOpen ? "ANYONE" : "TOKEN"))
    writer.name("cacheable")
    writer.bool(operation.isCacheable)
    writer.member("reason", operation.reason)
    writer.endObject()
  }

  private static func write(
    _ variable: OperationDescription.Variable, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("name", variable.name)
    if let description = variable.description { writer.member("description", description) }
    writer.member("type", variable.type)
    writer.name("required")
    writer.bool(variable.isRequired)
    if let text = variable.defaultText {
      writer.name("default")
      writer.raw(text)
    }
    writer.endObject()
  }

  private static func write(_ policy: CachePolicy, to writer: inout JSONWriter) {
    writer.name("policy")
    writer.beginObject()
    for (name, value) in [
      ("maxAge", policy.maxAge), ("staleWhileRevalidate", policy.staleWhileRevalidate),
      ("staleIfError", policy.staleIfError),
    ] {
      writer.name(name)
      writer.int(value.wholeSeconds)
    }
    switch policy.sharing {
    case .public: writer.member("scope", "PUBLIC")
    case .user: writer.member("scope", "USER")
    case .claim(let name):
      writer.member("scope", "CLAIM")
      writer.member("claim", name)
    }
    writer.member("onError", policy.onError.rawValue)
    writer.name("tags")
    writer.beginArray()
    for tag in policy.tags { writer.string(tag) }
    writer.endArray()
    writer.endObject()
  }
}

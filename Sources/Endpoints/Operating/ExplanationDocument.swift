import Gateway
import LosslessJSON
import Model

/// The body of `POST /v1/admin/explain`.
enum ExplanationDocument {
  static func bytes(_ explanation: Explanation) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("operation", explanation.key.operation)
    writer.name("variables")
    writer.raw(explanation.key.variables)
    writer.member("scope", "\(explanation.key.scope.kind)")
    writer.member("decision", name(of: explanation.decision))
    writer.member("reason", explanation.reason)
    writer.name("stored")
    if let stored = explanation.stored {
      write(stored, to: &writer)
    } else {
      writer.null()
    }
    writer.endObject()
    return writer.bytes
  }

  private static func write(_ stored: Explanation.Stored, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("receivedAt")
    writer.int(stored.received.milliseconds)
    writer.name("ageSeconds")
    writer.int(stored.age.wholeSeconds)
    writer.member("window", name(of: stored.freshness))
    writer.name("servedUntil")
    writer.int(stored.expires.milliseconds)
    writer.name("due")
    writer.bool(stored.isDue)
    writer.name("rendered")
    writer.bool(stored.isRendered)
    writer.name("misses")
    writer.beginArray()
    for path in stored.misses { writer.string(path) }
    writer.endArray()
    writer.name("dependencies")
    writer.beginArray()
    for key in stored.dependencies { writer.string(key.description) }
    writer.endArray()
    writer.endObject()
  }

  private static func name(of decision: ReadDecision) -> String {
    switch decision {
    case .serve: "serve"
    case .serveAndRefresh: "serve-and-refresh"
    case .fetch: "fetch"
    case .refuse: "refuse"
    }
  }

  private static func name(of freshness: Freshness) -> String {
    switch freshness {
    case .fresh: "fresh"
    case .staleWhileRevalidate: "stale-while-revalidate"
    case .staleIfError: "stale-if-error"
    case .expired: "expired"
    }
  }
}

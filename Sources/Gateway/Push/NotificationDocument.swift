import LosslessJSON
import Model
import Storage

/// A notification as JSON: its content, and its outcome for each user id.
enum NotificationDocument {
  static func bytes(_ record: NotificationRecord) throws(Failure) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    write(record.summary, to: &writer)
    writer.name("states")
    writer.beginObject()
    for batch in record.batches {
      guard let ids = try? JSONValue(checked: batch.userIDs).array?.compactMap(\.string) else {
        throw Failure(
          .internal, "A stored batch of the notification cannot be read.",
          cause: "stored ids are not a JSON array")
      }
      let outcome = outcome(of: batch.state)
      for id in ids {
        writer.name(id)
        writer.string((batch.exceptions[id].map(Self.outcome) ?? outcome).rawValue)
      }
    }
    writer.endObject()
    let reasons = record.batches.compactMap(\.reason)
    if !reasons.isEmpty {
      writer.name("reasons")
      writer.value(.array(Set(reasons).sorted().map { .string($0) }))
    }
    writer.endObject()
    return writer.bytes
  }

  static func bytes(_ page: [NotificationSummary], limit: Int) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for summary in page {
      writer.beginObject()
      write(summary, to: &writer)
      writer.endObject()
    }
    writer.endArray()
    if page.count == limit, let last = page.last {
      writer.name("next")
      writer.string(last.id)
    }
    writer.endObject()
    return writer.bytes
  }

  private static func write(_ summary: NotificationSummary, to writer: inout JSONWriter) {
    writer.name("id")
    writer.string(summary.id)
    writer.name("origin")
    writer.string(summary.origin)
    let message = (try? JSONValue(checked: summary.message)).flatMap(PushMessage.init(json:))
    if let message {
      if let chatID = message.chatID {
        writer.name(PushMessage.chatIDMember)
        writer.string(chatID)
      }
      writer.name("text")
      writer.string(message.text)
      if let heading = message.heading {
        writer.name("heading")
        writer.string(heading)
      }
      writer.name("data")
      writer.value(message.data)
    }
    writer.name("createdAt")
    writer.int(summary.created.milliseconds)
    if let settled = summary.settled {
      writer.name("settledAt")
      writer.int(settled.milliseconds)
    }
    writer.name("counts")
    writer.beginObject()
    for outcome in PushOutcome.allCases {
      writer.name(outcome.rawValue)
      writer.int(
        summary.counts.reduce(0) { $0 + (Self.outcome(of: $1.key) == outcome ? $1.value : 0) })
    }
    writer.endObject()
  }

  private static func outcome(of state: BatchState) -> PushOutcome {
    switch state {
    case .queued, .inflight: .queued
    case .sent: .sent
    case .invalid: .invalid
    case .failed: .failed
    }
  }
}

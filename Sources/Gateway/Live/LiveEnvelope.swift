import LosslessJSON
import Model

/// The events of a live stream: those of its subjects' own streams, each with its data in an object that
/// names the subject, `{"id":"a","lastEventId":…,"data":…}`.
enum LiveEnvelope {
  /// Returns the events of a subject's own stream as those of the live stream.
  ///
  /// - Parameter frames: what the subject's own stream sends.
  static func wrapped(_ frames: [UInt8], of subject: String) -> [EventFrame.Event] {
    EventFrame.events(in: frames).map { event in
      EventFrame.Event(
        id: event.id, event: event.event,
        data: object(subject, lastEventID: event.id, data: event.data))
    }
  }

  /// The event of a subject that failed, with a problem document.
  static func failure(_ problem: [UInt8], of subject: String) -> EventFrame.Event {
    EventFrame.Event(event: "error", data: object(subject, data: problem))
  }

  /// The event of a subject whose own stream ended.
  static func end(of subject: String) -> EventFrame.Event {
    EventFrame.Event(event: "end", data: object(subject))
  }

  /// The first event of a live stream.
  ///
  /// - Parameter resumed: the subjects that continue where the client was.
  static func open(_ stream: String, resumed: [String]) -> EventFrame.Event {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("streamId")
    writer.string(stream)
    writer.name("resumed")
    writer.beginArray()
    for id in resumed { writer.string(id) }
    writer.endArray()
    writer.endObject()
    return EventFrame.Event(event: "open", data: writer.bytes)
  }

  private static func object(
    _ subject: String, lastEventID: String? = nil, data: [UInt8]? = nil
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.reserve((data?.count ?? 0) + subject.utf8.count + 96)
    writer.beginObject()
    writer.name("id")
    writer.string(subject)
    if let lastEventID, !lastEventID.isEmpty {
      writer.name("lastEventId")
      writer.string(lastEventID)
    }
    if let data {
      writer.name("data")
      data.withUnsafeBufferPointer { writer.raw($0) }
    }
    writer.endObject()
    return writer.bytes
  }
}

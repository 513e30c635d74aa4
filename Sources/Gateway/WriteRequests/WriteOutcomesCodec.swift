import LosslessJSON
import Model
import Storage

/// Encodes the outcomes of a list of writes for replays of its idempotency key: a replay gets the response
/// that the first request got, whatever was written since.
enum WriteOutcomesCodec {
  static func encode(_ outcomes: [EntityWriteOutcome]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for outcome in outcomes {
      writer.beginObject()
      switch outcome {
      case .written(let document, let isNew):
        write(document.key, to: &writer)
        writer.name("isNew")
        writer.bool(isNew)
        writer.name("revision")
        writer.string(document.revision)
        writer.name("body")
        writer.raw(document.body)
      case .deleted(let key): write(key, to: &writer)
      case .matched(let count):
        writer.name("matched")
        writer.int(count)
      }
      writer.endObject()
    }
    writer.endArray()
    return writer.bytes
  }

  private static func write(_ key: EntityKey, to writer: inout JSONWriter) {
    writer.name("type")
    writer.string(key.type)
    writer.name("key")
    writer.string(key.key)
  }

  static func decode(_ bytes: [UInt8]) throws(Failure) -> [EntityWriteOutcome] {
    guard let items = (try? JSONValue(checked: bytes))?.array else { throw damaged }
    var outcomes: [EntityWriteOutcome] = []
    for item in items {
      if let count = item["matched"]?.int64 {
        outcomes.append(.matched(Int(count)))
        continue
      }
      guard let type = item["type"]?.string, let id = item["key"]?.string else { throw damaged }
      let key = EntityKey(type: type, key: id)
      guard let body = item["body"] else {
        outcomes.append(.deleted(key))
        continue
      }
      guard let revision = item["revision"]?.string, let isNew = item["isNew"]?.bool else {
        throw damaged
      }
      let document = EntityDocument(key: key, body: body.bytes, revision: revision, missing: nil)
      outcomes.append(.written(document, isNew: isNew))
    }
    return outcomes
  }

  private static var damaged: Failure {
    Failure(
      .internal, "The response of this key cannot be read.", cause: "a damaged local_write row")
  }
}

import Cryptography
import Files
import HTTPWire
import Model
import Testing

extension ContractCase {
  static let uploads = [
    ContractCase("assembles an object from parts") { it in
      let first = [UInt8](repeating: 1, count: it.partBytes)
      let second = [UInt8](repeating: 2, count: 77)
      let attributes = ObjectAttributes(contentType: "video/mp4", custom: ["a": "b"])
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: attributes, quota: .none)
      let last = try await it.store.putPart(7, of: upload, .of(second), quota: .none)
      let begin = try await it.store.putPart(2, of: upload, .of(first), quota: .none)
      await #expect(throws: FileStoreError.noSuchKey) { try await it.bytes("k") }
      let written = try await it.store.completeUpload(
        upload,
        parts: [
          PartReference(number: 2, tag: begin.tag), PartReference(number: 7, tag: last.tag),
        ], if: .none)
      let digests = Array(Insecure.MD5.hash(data: first)) + Array(Insecure.MD5.hash(data: second))
      #expect(
        written.metadata.tag == "\(Hexadecimal.encode(Insecure.MD5.hash(data: digests)))-2")
      #expect(try await it.bytes("k") == first + second)
      let head = try await it.store.head(try it.address("k"), conditions: nil)
      #expect(head.attributes == attributes)
      #expect(head.tag == written.metadata.tag)
      await #expect(throws: FileStoreError.noSuchUpload) {
        _ = try await it.store.putPart(1, of: upload, .of([1]), quota: .none)
      }
    },
    ContractCase("lists parts and uploads page by page") { it in
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      for number in [3, 1, 2] {
        _ = try await it.store.putPart(number, of: upload, .of([UInt8(number)]), quota: .none)
      }
      _ = try await it.store.putPart(2, of: upload, .of([9, 9]), quota: .none)
      let page = try await it.store.parts(of: upload, after: 0, limit: 2)
      #expect(page.parts.map(\.number) == [1, 2])
      #expect(page.parts.map(\.size) == [1, 2])
      #expect(page.hasMore)
      let rest = try await it.store.parts(of: upload, after: 2, limit: 2)
      #expect(rest.parts.map(\.number) == [3])
      #expect(!rest.hasMore)
      let uploads = try await it.store.uploads(
        in: it.bucket, prefix: "", after: nil, limit: 10)
      #expect(uploads.uploads.map(\.address) == [upload])
    },
    ContractCase("removes an aborted upload") { it in
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      _ = try await it.store.putPart(1, of: upload, .of([1]), quota: .none)
      try await it.store.abortUpload(upload)
      await #expect(throws: FileStoreError.noSuchUpload) {
        _ = try await it.store.completeUpload(upload, parts: nil, if: .none)
      }
      await #expect(throws: FileStoreError.noSuchUpload) {
        _ = try await it.store.parts(of: upload, after: 0, limit: 1)
      }
      let left = try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 10)
      #expect(left.uploads.isEmpty)
    },
    ContractCase("refuses parts that are missing, out of order or too small") { it in
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      let one = try await it.store.putPart(1, of: upload, .of([1]), quota: .none)
      let two = try await it.store.putPart(2, of: upload, .of([2]), quota: .none)
      func complete(_ parts: [(Int, String)]) async throws {
        _ = try await it.store.completeUpload(
          upload, parts: parts.map { PartReference(number: $0.0, tag: $0.1) }, if: .none)
      }
      await #expect(throws: FileStoreError.partInvalid(number: 3)) {
        try await complete([(1, one.tag), (3, two.tag)])
      }
      await #expect(throws: FileStoreError.partInvalid(number: 1)) {
        try await complete([(1, two.tag)])
      }
      await #expect(throws: FileStoreError.partOrderInvalid) {
        try await complete([(2, two.tag), (1, one.tag)])
      }
      await #expect(throws: FileStoreError.partTooSmall(number: 1, bytesMin: it.partBytes)) {
        try await complete([(1, one.tag), (2, two.tag)])
      }
      try await complete([(1, one.tag)])
      #expect(try await it.bytes("k") == [1])
    },
    ContractCase("refuses part numbers beyond 10,000") { it in
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      for number in [0, 10_001] {
        await #expect(throws: FileStoreError.partNumberInvalid) {
          _ = try await it.store.putPart(number, of: upload, .of([1]), quota: .none)
        }
      }
    },
    ContractCase("copies a range of an object as a part") { it in
      try await it.put((0..<100).map { UInt8($0) }, at: "from")
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      let part = try await it.store.copyPart(
        1, of: upload, from: try it.address("from"), range: .closed(10, 19), if: nil,
        quota: .none)
      #expect(part.tag == Hexadecimal.encode(Insecure.MD5.hash(data: Array(UInt8(10)...19))))
      _ = try await it.store.completeUpload(upload, parts: nil, if: .none)
      #expect(try await it.bytes("k") == Array(10...19))
    },
    ContractCase("checks conditions when completing an upload") { it in
      try await it.put([1], at: "k")
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      let part = try await it.store.putPart(1, of: upload, .of([2]), quota: .none)
      let parts = [PartReference(number: 1, tag: part.tag)]
      await #expect(throws: FileStoreError.preconditionFailed) {
        _ = try await it.store.completeUpload(upload, parts: parts, if: .absent)
      }
      #expect(try await it.bytes("k") == [1])
      let written = try await it.store.completeUpload(upload, parts: parts, if: .none)
      #expect(!written.isNew)
      #expect(try await it.bytes("k") == [2])
    },
    ContractCase("completes an upload again with the same result") { it in
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      let part = try await it.store.putPart(1, of: upload, .of([7]), quota: .none)
      let parts = [PartReference(number: 1, tag: part.tag)]
      let first = try await it.store.completeUpload(upload, parts: parts, if: .absent)
      let again = try await it.store.completeUpload(upload, parts: parts, if: .absent)
      #expect(again.metadata.tag == first.metadata.tag)
      #expect(again.metadata.size == first.metadata.size)
      #expect(!again.isNew)
      await #expect(throws: FileStoreError.self) {
        let other = [PartReference(number: 1, tag: String(repeating: "0", count: 32))]
        _ = try await it.store.completeUpload(upload, parts: other, if: .none)
      }
      let left = try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 10)
      #expect(left.uploads.isEmpty)
    },
    ContractCase("refuses an object of another size than the client stated") { it in
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      let part = try await it.store.putPart(1, of: upload, .of([1, 2]), quota: .none)
      let parts = [PartReference(number: 1, tag: part.tag)]
      await #expect(throws: FileStoreError.sizeMismatch(size: 2)) {
        _ = try await it.store.completeUpload(
          upload, UploadCompletion(parts: parts, size: 99))
      }
      await #expect(throws: FileStoreError.noSuchKey) { try await it.bytes("k") }
      _ = try await it.store.completeUpload(upload, UploadCompletion(parts: parts, size: 2))
      #expect(try await it.bytes("k") == [1, 2])
    },
    ContractCase("refuses to copy a range beyond the object") { it in
      try await it.put([1, 2, 3], at: "from")
      let upload = try await it.store.beginUpload(
        to: try it.address("k"), attributes: ObjectAttributes(), quota: .none)
      await #expect(throws: FileStoreError.rangeNotSatisfiable(size: 3)) {
        _ = try await it.store.copyPart(
          1, of: upload, from: try it.address("from"), range: .closed(0, 21), if: nil,
          quota: .none)
      }
    },
  ]
}

import Files
import HTTPWire
import Model
import Testing

extension ContractCase {
  private static let now = HTTPDate(secondsSince1970: 1_800_000_000)

  static let conditions = [
    ContractCase("writes only if the object does not exist") { it in
      try await it.put([1], at: "k", if: .absent)
      await #expect(throws: FileStoreError.preconditionFailed) {
        try await it.put([2], at: "k", if: .absent)
      }
      #expect(try await it.bytes("k") == [1])
    },
    ContractCase("writes only over the tag of If-Match") { it in
      let first = try await it.put([1], at: "k")
      try await it.put([2], at: "k", if: .tagged([first.metadata.tag]))
      await #expect(throws: FileStoreError.preconditionFailed) {
        try await it.put([3], at: "k", if: .tagged([first.metadata.tag]))
      }
      #expect(try await it.bytes("k") == [2])
    },
    ContractCase("writes only over a tag other than that of If-None-Match") { it in
      let first = try await it.put([1], at: "k", if: WriteCondition(notMatching: .oneOf(["x"])))
      let known = WriteCondition(notMatching: .oneOf(["x", first.metadata.tag]))
      await #expect(throws: FileStoreError.preconditionFailed) {
        try await it.put([2], at: "k", if: known)
      }
      await #expect(throws: FileStoreError.preconditionFailed) {
        _ = try await it.store.delete(try it.address("k"), if: known)
      }
      try await it.put([2], at: "k", if: WriteCondition(notMatching: .oneOf(["x"])))
      #expect(try await it.bytes("k") == [2])
    },
    ContractCase("writes only if unmodified since a moment") { it in
      let first = try await it.put([1], at: "k")
      let seconds = first.metadata.modified.milliseconds / 1000
      let before = WriteCondition(unmodifiedSinceSeconds: seconds - 1)
      await #expect(throws: FileStoreError.preconditionFailed) {
        try await it.put([2], at: "k", if: before)
      }
      await #expect(throws: FileStoreError.preconditionFailed) {
        _ = try await it.store.delete(try it.address("k"), if: before)
      }
      try await it.put([2], at: "k", if: WriteCondition(unmodifiedSinceSeconds: seconds + 60))
      #expect(try await it.bytes("k") == [2])
    },
    ContractCase("checks conditions of reads") { it in
      let tag = try await it.put([1, 2, 3], at: "k").metadata.tag
      let address = try it.address("k")
      _ = try await it.store.get(
        address, range: nil, conditions: Preconditions(ifMatch: "\"\(tag)\"", now: now))
      await #expect(throws: FileStoreError.preconditionFailed) {
        _ = try await it.store.get(
          address, range: nil, conditions: Preconditions(ifMatch: "\"other\"", now: now))
      }
      for conditions in [
        Preconditions(ifNoneMatch: "\"\(tag)\"", now: now),
        Preconditions(ifModifiedSince: "Fri, 01 Jan 2100 00:00:00 GMT", now: now),
      ] {
        do {
          _ = try await it.store.get(address, range: nil, conditions: conditions)
          Issue.record("was read")
        } catch let error as FileStoreError {
          guard case .notModified(let metadata) = error else { throw error }
          #expect(metadata.tag == tag)
        }
      }
    },
    ContractCase("reads ranges") { it in
      let bytes = (0..<200).map { UInt8($0) }
      try await it.put(bytes, at: "k")
      #expect(try await it.bytes("k", range: .closed(10, 19)) == Array(10...19))
      #expect(try await it.bytes("k", range: .closed(190, 500)) == Array(190...199))
      #expect(try await it.bytes("k", range: .from(195)) == Array(195...199))
      #expect(try await it.bytes("k", range: .suffix(3)) == Array(197...199))
      let part = try await it.store.get(
        try it.address("k"), range: .closed(5, 6), conditions: nil)
      #expect(part.range == 5..<7)
      #expect(part.metadata.size == 200)
      await #expect(throws: FileStoreError.rangeNotSatisfiable(size: 200)) {
        try await it.bytes("k", range: .from(200))
      }
    },
    ContractCase("checks conditions on the source of a copy") { it in
      let tag = try await it.put([1], at: "from").metadata.tag
      await #expect(throws: FileStoreError.preconditionFailed) {
        _ = try await it.store.copy(
          try it.address("from"), if: Preconditions(ifNoneMatch: "\"\(tag)\"", now: now),
          to: try it.address("to"), attributes: nil, CopyWrite())
      }
      for conditions in [
        Preconditions(ifMatch: "unreadable", now: now),
        Preconditions(ifModifiedSince: "Fri, 01 Jan 2100 00:00:00 GMT", now: now),
      ] {
        await #expect(throws: FileStoreError.preconditionFailed) {
          _ = try await it.store.copy(
            try it.address("from"), if: conditions, to: try it.address("to"), attributes: nil,
            CopyWrite())
        }
      }
      await #expect(throws: FileStoreError.noSuchKey) { try await it.bytes("to") }
    },
  ]
}

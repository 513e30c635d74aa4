import Gateway
import Model
import Storage
import Testing

struct CursorValidatorTests {
  private static let codec = CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor))
  private static let user = Viewer(layers: [.user("u"), .public])

  private static func validator(
    _ segments: [(UInt64, Int64)] = [(1, 0), (2, 50)], schemaVersion: UInt32 = 1
  ) -> CursorValidator {
    CursorValidator(
      codec: codec,
      segments: segments.map { Segment(nonce: $0.0, start: Revision($0.1)) },
      schemaVersion: schemaVersion)
  }

  private static func judge(
    _ text: String, by validator: CursorValidator = validator(), viewer: Viewer = .anonymous,
    filter: ChangeFilter = .all, head: Int64 = 80
  ) -> Result<ChangePlace, CursorFault> {
    Result { () throws(CursorFault) in
      try validator.place(of: text, viewer: viewer, filter: filter, head: Revision(head))
    }
  }

  @Test(
    "A cursor continues exactly where it ended",
    arguments: [
      ChangePlace(caughtUpAt: Revision(80)), ChangePlace(caughtUpAt: Revision(50)),
      ChangePlace(caughtUpAt: Revision(3)),
      ChangePlace(
        position: LogPosition(revision: Revision(60), place: "1:é"),
        origin: .delta(base: Revision(9))),
      ChangePlace(
        position: LogPosition(revision: Revision(60)), origin: .snapshot(start: Revision(70))),
    ])
  func continuesExactlyWhereItEnded(place: ChangePlace) {
    let text = Self.validator().text(at: place, viewer: .anonymous, filter: .all)
    #expect(Self.judge(text) == .success(place))
  }

  /// Cursors from before the store was replaced or truncated.
  @Test(
    "A cursor of a replaced or truncated store is refused",
    arguments: [
      // A backup from before the segment began.
      ([(1, 0), (3, 40)], 60, 70), ([(1, 0)], 60, 70),
      // The last commits are lost: the next boot began below them.
      ([(1, 0), (2, 50), (4, 55)], 60, 70), ([(1, 0), (2, 50)], 60, 55),
    ] as [([(UInt64, Int64)], Int64, Int64)])
  func refusesAnotherStoresRevisions(
    segments: [(UInt64, Int64)], revision: Int64, head: Int64
  ) {
    let place = ChangePlace(caughtUpAt: Revision(revision))
    let text = Self.validator().text(at: place, viewer: .anonymous, filter: .all)
    #expect(
      Self.judge(text, by: Self.validator(segments), head: head) == .failure(.gone(.segment)))
  }

  @Test("Both ends of a segment belong to it")
  func segmentIncludesBothEnds() {
    let text = Self.validator([(1, 0)]).text(
      at: ChangePlace(caughtUpAt: Revision(50)), viewer: .anonymous, filter: .all)
    #expect(Self.judge(text) == .success(ChangePlace(caughtUpAt: Revision(50))))
  }

  @Test("Another caller's cursor is refused; an earlier view of the same caller is gone")
  func refusesOtherCallersCursors() {
    let place = ChangePlace(caughtUpAt: Revision(60))
    let open = Self.validator().text(at: place, viewer: .anonymous, filter: .all)
    let mine = Self.validator().text(at: place, viewer: Self.user, filter: .all)
    #expect(Self.judge(mine) == .failure(.otherCaller))
    let other = Viewer(layers: [.user("v"), .public])
    #expect(Self.judge(mine, viewer: other) == .failure(.otherCaller))
    // The same caller, before signing in or with another device.
    #expect(Self.judge(open, viewer: Self.user) == .failure(.gone(.scope)))
    let device = Viewer(layers: [.device("d"), .user("u"), .public])
    #expect(Self.judge(mine, viewer: device) == .failure(.gone(.scope)))
  }

  @Test("A cursor with another filter or schema, or malformed text, is refused")
  func refusesOtherFilterSchemaAndMalformedText() {
    let place = ChangePlace(caughtUpAt: Revision(60))
    let films = ChangeFilter(types: ["Film"])
    let text = Self.validator().text(at: place, viewer: .anonymous, filter: .all)
    #expect(Self.judge(text, filter: films) == .failure(.otherFilter))
    #expect(Self.judge(text, by: Self.validator(schemaVersion: 2)) == .failure(.gone(.schema)))
    #expect(Self.judge("nonsense") == .failure(.malformed))
    #expect(Self.judge("") == .failure(.malformed))
  }

  @Test("A cursor issued with a response can start any filter")
  func responseCursorStartsAnyFilter() {
    let issuer = CursorIssuer(codec: Self.codec, segment: 2, schemaVersion: 1, head: Revision(70))
    let text = String(decoding: issuer.cursor(for: .anonymous), as: UTF8.self)
    #expect(
      Self.judge(text, filter: ChangeFilter(types: ["Film"]))
        == .success(ChangePlace(caughtUpAt: Revision(70))))
  }

  @Test("Different filters have different digests")
  func filtersHaveDistinctDigests() {
    let filters = [
      ChangeFilter.all, ChangeFilter(types: ["Film"]), ChangeFilter(types: ["Film", "Person"]),
      ChangeFilter(operations: [.insert]), ChangeFilter(types: [], operations: [.insert]),
    ]
    #expect(Set(filters.map(\.digest)).count == filters.count)
    #expect(!filters.map(\.digest).contains(0))
  }
}

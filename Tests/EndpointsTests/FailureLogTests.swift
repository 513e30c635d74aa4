import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import Endpoints

/// Which failures operators learn of.
struct FailureLogTests {
  @Test("The service's own failures are warnings, once a minute for each code")
  func ownFailures() {
    let time = Mutex<Int64>(0)
    let recorded = RecordedLog()
    let log = FailureLog(
      clock: WallClock { Timestamp(milliseconds: time.withLock { $0 }) }, logger: recorded.logger)
    let full = Failure(
      .storageUnavailable, "The store cannot be written.", cause: "the disk is full")
    for _ in 0..<3 { log.note(full, requestID: "r") }
    log.note(Failure(.storageFull, "The disk is full."), requestID: "r")
    time.withLock { $0 = 60_000 }
    log.note(full, requestID: "late")
    let lines = recorded.lines
    #expect(lines.map(\.level) == [.warning, .warning, .warning])
    #expect(
      lines.map { $0.metadata["code"] } == [
        "storage_unavailable", "storage_full", "storage_unavailable",
      ])
    #expect(lines.map { $0.metadata["cause"] }.first == "the disk is full")
    #expect(lines.map { $0.metadata["count"] } == [nil, nil, .stringConvertible(3)])
    #expect(lines.last?.metadata["request_id"] == "late")
    #expect(lines.allSatisfy { $0.metadata["remedy"] != nil })
  }

  @Test("The S3 dialect's failures are logged as those of other routes, once")
  func failuresOfS3() {
    let recorded = RecordedLog()
    let log = FailureLog(
      clock: WallClock { Timestamp(milliseconds: 0) }, logger: recorded.logger)
    let codes: [Failure.Code] = [
      .storageUnavailable, .storageFull, .filesUnavailable, .filesRefused,
    ]
    for code in codes { log.note(S3Fault(Failure(code, "Broken.")), requestID: "r") }
    #expect(recorded.lines.map(\.level) == codes.map { _ in .warning })
    #expect(
      recorded.lines.compactMap { $0.metadata["code"].map { "\($0)" } } == codes.map(\.rawValue))
    log.note(S3Fault(Failure(.internal, "Broken.", cause: "a bug")), requestID: "r")
    #expect(recorded.lines.last?.level == .error)
    #expect(recorded.lines.last?.metadata["cause"] == "a bug")
    log.note(S3Fault(Failure(.notFound, "Nothing is here.")), requestID: "r")
    log.note(S3Fault(.noSuchVersion, "There are no versions."), requestID: "r")
    #expect(recorded.lines.count == codes.count + 2)
    #expect(recorded.lines.last?.level == .debug)
    #expect(recorded.lines.last?.metadata["code"] == "NoSuchVersion")
  }

  @Test("Internal errors are all logged, and failures of clients at debug if they have a cause")
  func otherFailures() {
    let recorded = RecordedLog()
    let log = FailureLog(
      clock: WallClock { Timestamp(milliseconds: 0) }, logger: recorded.logger)
    for _ in 0..<2 { log.note(Failure(.internal, "Broken."), requestID: "r") }
    log.note(Failure(.notFound, "Nothing is here."), requestID: "r")
    log.note(Failure(.tokenInvalid, "No.", cause: "expired"), requestID: "r")
    #expect(recorded.lines.map(\.level) == [.error, .error, .debug])
  }
}

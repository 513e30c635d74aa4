import Gateway
import HTTPServer
import HTTPWire
import Model
import Synchronization

/// A streaming reader of a form upload: first its fields, then its file, in pieces as it is stored.
///
/// Only one task can read at a time.
final class S3FormReader: Sendable {
  /// The limit on all fields together, as in S3.
  private static let fieldBytesMax = 20 * 1024

  private struct State {
    var parser: FormParser
    /// Bytes of the file read so far.
    var size = 0
    var refusal: S3Fault?
  }

  private let source: @Sendable () async throws(FileStoreError) -> [UInt8]?
  private let state: Mutex<State>

  init(_ boundary: FormBoundary, _ upload: UploadContent) {
    source = upload.next
    state = Mutex(State(parser: FormParser(boundary)))
  }

  /// The reason for which this reader refused the file; nil if it did not.
  var refusal: S3Fault? { state.withLock { $0.refusal } }

  /// Reads the fields up to the file. As in S3, fields after the file are ignored.
  ///
  /// - Returns: the fields, names in lower case, and the head of the file's part.
  func fields() async throws(S3Fault) -> ([(name: String, value: String)], file: FormPart) {
    var fields: [(name: String, value: String)] = []
    var current: (name: String, value: [UInt8])?
    var bytes = 0
    while let event = try await next() {
      switch event {
      case .part(let part):
        if part.name.lowercased() == "file" { return (fields, part) }
        current = (part.name.lowercased(), [])
        bytes += part.name.utf8.count
      case .content(let content):
        current?.value += content
        bytes += content.count
      case .partEnd:
        guard let field = current, let value = String(validating: field.value, as: UTF8.self) else {
          throw S3Fault(.invalidArgument, "A form field is not valid UTF-8.")
        }
        fields.append((field.name, value))
      case .end: break
      }
      guard bytes <= Self.fieldBytesMax else {
        throw S3Fault(
          .invalidRequest, "The form fields exceed \(Self.fieldBytesMax) bytes.")
      }
    }
    throw S3Fault(.invalidArgument, "POST requires exactly one file upload per request.")
  }

  /// The file as an upload.
  ///
  /// - Parameter byteCounts: the allowed lengths; nil for any length.
  func upload(
    digests: [ContentDigest], byteCounts: ClosedRange<Int>?
  ) -> UploadContent {
    UploadContent(
      digests: digests,
      next: { [self] () async throws(FileStoreError) in try await piece(within: byteCounts) })
  }

  private func piece(
    within byteCounts: ClosedRange<Int>?
  ) async throws(FileStoreError) -> [UInt8]? {
    let event: FormEvent?
    do throws(S3Fault) {
      event = try await next()
    } catch {
      state.withLock { $0.refusal = error }
      throw .refused(.framing)
    }
    guard case .content(let content) = event else {
      let size = state.withLock { $0.size }
      if let least = byteCounts?.lowerBound, size < least {
        throw refuse(
          .entityTooSmall, "The file has \(size) bytes; the policy requires at least \(least).")
      }
      return nil
    }
    let size = state.withLock { state in
      state.size += content.count
      return state.size
    }
    if let most = byteCounts?.upperBound, size > most {
      throw refuse(.entityTooLarge, "The file exceeds the policy's maximum of \(most) bytes.")
    }
    return content
  }

  private func refuse(_ code: S3ErrorCode, _ message: String) -> FileStoreError {
    state.withLock { $0.refusal = S3Fault(code, message) }
    return .incomplete
  }

  /// - Returns: nil after the end.
  private func next() async throws(S3Fault) -> FormEvent? {
    while true {
      let step = state.withLock { state -> Result<FormEvent?, FormFault> in
        do throws(FormFault) { return .success(try state.parser.next()) } catch {
          return .failure(error)
        }
      }
      switch step {
      case .success(.some(let event)): return event == .end ? nil : event
      case .success(nil): break
      case .failure(let fault):
        throw S3Fault(.malformedPOSTRequest, "The form is malformed: \(fault).")
      }
      let more: [UInt8]?
      do throws(FileStoreError) { more = try await source() } catch {
        throw S3Fault(.incompleteBody, "The form was not received completely.")
      }
      guard let more else {
        throw S3Fault(.malformedPOSTRequest, "The form ends without its closing boundary.")
      }
      state.withLock { $0.parser.append(more) }
    }
  }
}

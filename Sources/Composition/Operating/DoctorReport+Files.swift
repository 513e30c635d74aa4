import Files
import HTTPClient
import Model
import S3
import Transport

extension DoctorReport {
  /// Whether the service that keeps files answers, takes our keys, and has the buckets.
  static func files(_ settings: FilesSettings) async -> [Finding] {
    guard settings.store == .s3, let endpoint = settings.endpoint else { return [] }
    do {
      let group = try EventLoopGroup(count: 1)
      let http = try S3Assembly.httpClient(settings, group: group)
      let store = S3FileStore(
        client: try S3Assembly.client(settings, http: http, clock: SystemClock.wall),
        sweptBuckets: [])
      let finding = await ask(store, for: settings.buckets.keys.sorted(), at: endpoint.text)
      await http.close()
      await group.shutdown()
      return [finding]
    } catch {
      return [Finding(part: "files", verdict: .bad, text: "\(error)")]
    }
  }

  private static func ask(
    _ store: S3FileStore, for buckets: [String], at endpoint: String
  ) async -> Finding {
    var missing: [String] = []
    do throws(FileStoreError) {
      // Keys that may not list all buckets are as good as others.
      if buckets.isEmpty { _ = try await store.buckets() }
      for name in buckets.compactMap({ BucketName($0) }) {
        do throws(FileStoreError) {
          _ = try await store.bucket(name)
        } catch {
          guard error == .noSuchBucket else { throw error }
          missing.append(name.text)
        }
      }
    } catch {
      return Finding(part: "files", verdict: .bad, text: "\(endpoint): \(complaint(error))")
    }
    return Finding(
      part: "files", verdict: missing.isEmpty ? .good : .note,
      text: missing.isEmpty
        ? "\(endpoint) answers"
        : "\(endpoint) answers; the start will make \(missing.joined(separator: ", "))")
  }

  private static func complaint(_ error: FileStoreError) -> String {
    switch error {
    case .unavailable: "it cannot be reached"
    case .denied: "it does not take files.accessKey and files.secretKey, or not for this"
    case .other(let cause): cause
    default: "\(error)"
    }
  }
}

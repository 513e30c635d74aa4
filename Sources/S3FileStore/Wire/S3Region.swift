import HTTPClient
import Model
import Synchronization
import Transport

/// The region and endpoint of a bucket's requests and their signatures.
struct S3Region: Equatable, Sendable {
  var name: String
  var endpoint: Origin

  /// Returns the same service in another region. Only hosts with a region in their name change:
  /// `s3.eu-west-1.amazonaws.com`. The service can never choose the host, since further requests are
  /// signed with our key.
  func moved(to name: String) -> S3Region {
    guard case .host(let host, let port) = endpoint.endpoint else {
      return S3Region(name: name, endpoint: endpoint)
    }
    var labels = host.split(separator: ".").map(String.init)
    if let place = labels.firstIndex(of: self.name) {
      labels[place] = name
    } else if host == "s3.amazonaws.com" {
      labels.insert(name, at: 1)
    }
    return S3Region(
      name: name,
      endpoint: Origin(
        scheme: endpoint.scheme, endpoint: .host(labels.joined(separator: "."), port: port)))
  }

  /// Returns whether the name of a region can be part of a host name.
  static func isName(_ text: String) -> Bool {
    (1...63).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
      }
  }
}

/// The facts about the service that requests revealed.
final class S3Memory: Sendable {
  /// Limit of the buckets whose region is kept.
  private static let regionsMax = 1000

  private struct State {
    /// The difference of the service's clock to ours.
    var skew = Duration.zero
    var regions: [BucketName: S3Region] = [:]
  }

  private let state = Mutex(State())

  var skew: Duration {
    get { state.withLock { $0.skew } }
    set { state.withLock { $0.skew = newValue } }
  }

  func region(of bucket: BucketName?) -> S3Region? {
    bucket.flatMap { bucket in state.withLock { $0.regions[bucket] } }
  }

  func note(_ region: S3Region, of bucket: BucketName) {
    state.withLock { state in
      if state.regions.count >= Self.regionsMax { state.regions = [:] }
      state.regions[bucket] = region
    }
  }
}

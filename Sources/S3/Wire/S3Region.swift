import HTTPClient
import Transport

/// Where requests for a bucket go and what they are signed for.
struct S3Region: Equatable, Sendable {
  var name: String
  var endpoint: Origin

  /// The same service in another region. Only hosts that have a region in their name have another:
  /// `s3.eu-west-1.amazonaws.com`. A service never sends us to a host of its choice, since what
  /// follows is signed with our key.
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

  /// Whether a service's word for a region can stand in a host's name.
  static func isName(_ text: String) -> Bool {
    (1...63).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
      }
  }
}

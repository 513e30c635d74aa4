import HTTPWire

/// `X-Forwarded-For`, `-Proto` and `-Host`: what most proxies write in place of `Forwarded`.
struct XForwardedFields {
  let hops: [ForwardedHop]

  /// Nil where no `X-Forwarded-For` is there.
  init?(_ fields: FieldSection) {
    guard let addresses = fields.joined("x-forwarded-for") else { return nil }
    let nodes = Self.elements(addresses)
    let schemes = fields.joined("x-forwarded-proto").map(Self.elements) ?? []
    let hosts = fields.joined("x-forwarded-host").map(Self.elements) ?? []
    hops = nodes.enumerated().map { index, node in
      let fromEnd = nodes.count - index
      return ForwardedHop(
        address: ForwardedNode.address(node, allowsBareIPv6: true),
        isSecure: Self.element(schemes, fromEnd: fromEnd).flatMap(ForwardedScheme.isSecure),
        host: Self.element(hosts, fromEnd: fromEnd).flatMap(ForwardedHost.checked))
    }
  }

  /// The element beside a node. Proxies that pass a request on keep a single one as it is, so that
  /// it stands for the whole way.
  private static func element(_ elements: [String], fromEnd: Int) -> String? {
    if elements.count == 1 { return elements[0] }
    return fromEnd <= elements.count ? elements[elements.count - fromEnd] : nil
  }

  private static func elements(_ bytes: ArraySlice<UInt8>) -> [String] {
    bytes.split(separator: UInt8(ascii: ",")).map(\.trimmingBlanks).filter { !$0.isEmpty }.map(
      \.text)
  }
}

extension TextForm where Value == ListenAddress {
  static var listenAddress: Self {
    Self(
      noun: "an address such as 127.0.0.1:8080, [::1]:8080, :8080 or unix:/run/larder.sock",
      parse: { text, folder throws(ValueRefusal) in
        try ListenAddress(parsing: text, in: folder)
      },
      print: \.description)
  }
}

extension TextForm where Value == ServiceURL {
  static func url(_ schemes: String...) -> Self {
    Self(
      noun: "a URL such as \(schemes.last ?? "https")://api.example.com/graphql",
      parse: { text, _ throws(ValueRefusal) in
        try withholdingPassword(in: text) { () throws(ValueRefusal) in
          try ServiceURL(parsing: text, schemes: schemes)
        }
      },
      print: \.text)
  }
}

extension TextForm where Value == ProxyPeers {
  static var proxyPeers: Self {
    Self(
      noun: "a block of addresses such as 10.0.0.0/8 or fd00::/8, or unix",
      parse: { text, _ throws(ValueRefusal) in try ProxyPeers(parsing: text) },
      print: \.description)
  }
}

extension TextForm where Value == WebOrigin {
  static var origin: Self {
    Self(
      noun: "an origin such as https://app.example.com, or *",
      parse: { text, _ throws(ValueRefusal) in
        try withholdingPassword(in: text) { () throws(ValueRefusal) in
          try WebOrigin(parsing: text)
        }
      },
      print: \.description)
  }
}

/// Whatever is wrong with an address, a password in it is not repeated.
private func withholdingPassword<Value>(
  in text: String, _ parse: () throws(ValueRefusal) -> Value
) throws(ValueRefusal) -> Value {
  do throws(ValueRefusal) {
    return try parse()
  } catch {
    throw ValueRefusal(error.reason, hidesValue: text.contains("@"))
  }
}

/// One lexical token.
struct Token {
  enum Kind: Equatable {
    case bang, dollar, ampersand, parenLeft, parenRight, spread, colon, equals, at
    case bracketLeft, bracketRight, braceLeft, pipe, braceRight
    case name, int, float, string, blockString
    case endOfFile
  }

  let kind: Kind
  let start: Int
  let end: Int
  /// The value of a string, with escapes resolved; empty for other tokens.
  var text = ""
}

extension Token.Kind {
  /// The name of the kind in fault messages.
  var label: String {
    switch self {
    case .bang: "\"!\""
    case .dollar: "\"$\""
    case .ampersand: "\"&\""
    case .parenLeft: "\"(\""
    case .parenRight: "\")\""
    case .spread: "\"...\""
    case .colon: "\":\""
    case .equals: "\"=\""
    case .at: "\"@\""
    case .bracketLeft: "\"[\""
    case .bracketRight: "\"]\""
    case .braceLeft: "\"{\""
    case .pipe: "\"|\""
    case .braceRight: "\"}\""
    case .name: "a name"
    case .int: "an integer"
    case .float: "a float"
    case .string: "a string"
    case .blockString: "a block string"
    case .endOfFile: "the end of the document"
    }
  }

  static func punctuator(_ byte: UInt8) -> Token.Kind? {
    switch byte {
    case UInt8(ascii: "!"): .bang
    case UInt8(ascii: "$"): .dollar
    case UInt8(ascii: "&"): .ampersand
    case UInt8(ascii: "("): .parenLeft
    case UInt8(ascii: ")"): .parenRight
    case UInt8(ascii: ":"): .colon
    case UInt8(ascii: "="): .equals
    case UInt8(ascii: "@"): .at
    case UInt8(ascii: "["): .bracketLeft
    case UInt8(ascii: "]"): .bracketRight
    case UInt8(ascii: "{"): .braceLeft
    case UInt8(ascii: "|"): .pipe
    case UInt8(ascii: "}"): .braceRight
    default: nil
    }
  }
}

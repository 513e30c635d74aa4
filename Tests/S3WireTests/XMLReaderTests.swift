import S3Wire
import TestSupport
import Testing

/// Reading of documents as S3's clients write them, and refusal of harmful ones.
struct XMLReaderTests {
  private static func read(
    _ text: String, within limits: XMLLimits = XMLLimits()
  ) throws(XMLFault) -> XMLElement {
    try XMLReader.read(Array(text.utf8), within: limits)
  }

  @Test("A document as clients send it is read")
  func readsClientDocument() throws {
    let root = try Self.read(
      """
      \u{FEFF}<?xml version="1.0" encoding="utf-8"?>
      <!-- made by a client -->
      <s3:Delete xmlns:s3="http://s3.amazonaws.com/doc/2006-03-01/" a='>' >
        <s3:Object><s3:Key>a &amp; b&#13;&#x1F600;</s3:Key></s3:Object>
        <Object><Key><![CDATA[<x>]]>y<!-- - -->z</Key ></Object>
        <Quiet/>
      </s3:Delete>

      """)
    #expect(root.name == "Delete")
    #expect(root.all("Object").compactMap { $0["Key"]?.text } == ["a & b\r😀", "<x>yz"])
    #expect(root["Quiet"] == XMLElement("Quiet"))
    #expect(root["Nothing"] == nil)
  }

  @Test("Line ends are normalised to one character")
  func normalisesLineEnds() throws {
    let root = try Self.read("<a>1\r\n2\r3\n4\r\r\n5<![CDATA[\r\n]]></a>")
    #expect(root.text == "1\n2\n3\n4\n\n5\n")
  }

  @Test(
    "A malformed document is refused with its position",
    arguments: [
      ("", .noElement, 1, 1), ("  \n x", .noElement, 2, 2), ("<a>", .unfinished, 1, 4),
      ("<a>\n  <b></a>", .otherEnd, 2, 6), ("<a></b>", .otherEnd, 1, 4),
      ("<a/>x", .contentAfterElement, 1, 5), ("<a/>\n<b/>", .contentAfterElement, 2, 1),
      ("<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", .documentType, 1, 1),
      ("<a><!DOCTYPE b></a>", .documentType, 1, 4), ("<?php x?><a/>", .processingInstruction, 1, 1),
      ("<a><?x?></a>", .processingInstruction, 1, 4), ("<a>&x;</a>", .unknownEntity, 1, 4),
      ("<a>& </a>", .malformedReference, 1, 4), ("<a>&#;</a>", .malformedReference, 1, 4),
      ("<a>&#xD800;</a>", .malformedReference, 1, 4), ("<a>&#+9;</a>", .malformedReference, 1, 4),
      ("<a>&#99999999999;</a>", .malformedReference, 1, 4),
      ("<a>&#0;</a>", .illegalCharacter, 1, 4),
      ("<a>&#x1;</a>", .illegalCharacter, 1, 4), ("<a>\u{1}</a>", .illegalCharacter, 1, 4),
      ("<a>\n\u{FFFF}</a>", .illegalCharacter, 2, 1), ("<a>]]></a>", .strayMarkup, 1, 4),
      ("<a x=1/>", .malformedTag, 1, 6), ("<a x='1' x='2'/>", .repeatedAttribute, 1, 10),
      ("<a x='1'y='2'/>", .malformedTag, 1, 9), ("<a x='<'/>", .malformedTag, 1, 7),
      ("<1/>", .malformedTag, 1, 2), ("<a:1/>", .malformedTag, 1, 1),
      ("<a:/>", .malformedTag, 1, 1), ("<a", .unfinished, 1, 3), ("<a x='", .unfinished, 1, 7),
      ("<a></a x='1'>", .malformedTag, 1, 8), ("<a><!-- -- --></a>", .malformedComment, 1, 9),
      ("<?xml version='1.0' encoding='UTF-16'?><a/>", .otherEncoding, 1, 1),
    ] as [(String, XMLFault.Kind, Int, Int)])
  func refusesMalformedDocuments(_ text: String, _ kind: XMLFault.Kind, _ line: Int, _ column: Int)
  {
    let fault = #expect(throws: XMLFault.self) { try Self.read(text) }
    #expect(fault?.kind == kind)
    #expect(fault?.line == line && fault?.column == column, "\(text): \(fault?.description ?? "")")
  }

  @Test(
    "Bytes that are not UTF-8 are refused",
    arguments: [[0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80]])
  func refusesInvalidUTF8(_ bytes: [UInt8]) {
    let fault = #expect(throws: XMLFault.self) {
      try XMLReader.read(Array("<a>é".utf8) + bytes + Array("</a>".utf8))
    }
    #expect(fault?.kind == .illegalCharacter)
    #expect(fault?.offset == 5)
  }

  @Test("Size, depth and number of elements are bounded")
  func boundsSizeDepthAndElements() {
    let limits = XMLLimits(bytesMax: 100, depthMax: 3, elementsMax: 5)
    #expect(throws: Never.self) { try Self.read("<a><b><c/></b><d/></a>", within: limits) }
    for (text, kind) in [
      ("<a>\(String(repeating: "x", count: 100))</a>", XMLFault.Kind.tooLarge),
      ("<a><b><c><d/></c></b></a>", .tooDeep), ("<a><b/><b/><b/><b/><b/></a>", .tooManyElements),
    ] {
      let fault = #expect(throws: XMLFault.self) { try Self.read(text, within: limits) }
      #expect(fault?.kind == kind)
    }
  }

  @Test("Deep nesting does not overflow the stack")
  func survivesDeepNesting() throws {
    let depth = 200_000
    let text =
      String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    let fault = #expect(throws: XMLFault.self) {
      try Self.read(text, within: XMLLimits(bytesMax: 1 << 24, depthMax: 5000, elementsMax: depth))
    }
    #expect(fault?.kind == .tooDeep)
  }

  /// What the writer writes, the reader reads.
  @Test("A written document is read back the same")
  func roundTrips() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let alphabet = Array("ab<>&\"'\r\n\t ]é€😀;#x")
    for _ in 0..<200 {
      let text = String((0..<20).map { _ in alphabet.randomElement(using: &random) ?? "a" })
      var writer = XMLWriter("Root")
      writer.element("Key", text)
      writer.element("List") { $0.element("Size", 7) }
      let root = try XMLReader.read(writer.finished())
      #expect(
        root["Key"]?.text.unicodeScalars.elementsEqual(text.unicodeScalars) == true, "seed \(seed)")
      #expect(root["List"]?["Size"]?.text == "7")
    }
  }

  @Test("The writer declares the namespace and closes open elements")
  func writesNamespaceAndClosesElements() {
    var writer = XMLWriter("A")
    writer.begin("B")
    writer.element("C", true)
    writer.element("D", "\u{1}\u{FFFF}\r")
    #expect(
      String(decoding: writer.finished(), as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <A xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><B><C>true</C>\
        <D>\u{FFFD}\u{FFFD}&#13;</D></B></A>
        """)
  }
}

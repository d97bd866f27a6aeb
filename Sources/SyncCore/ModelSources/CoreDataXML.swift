import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// A parser that converts the XML of a Core Data model to elements.
final class CoreDataXML: NSObject, XMLParserDelegate {
    /// The largest nesting depth of elements. Nested elements are freed recursively, so deeper nesting could overflow
    /// the stack. The XML of a model has five levels.
    private static let maximumDepth = 64
    private static let maximumDeclaration = 256

    private var open: [CoreDataElement] = []
    private var root: CoreDataElement?
    private var failure: SyncError?

    /// Parses XML and returns its root element.
    ///
    /// - Throws: ``SyncError`` `unreadableModel`, with line and column where they are known.
    static func root(of data: Data) throws -> CoreDataElement {
        try check(data)
        let parser = XMLParser(data: data)
        let document = CoreDataXML()
        parser.delegate = document
        parser.shouldResolveExternalEntities = false
        // Neither the result of parse() nor the parser's last error tells whether the document is well-formed.
        _ = parser.parse()
        if let failure = document.failure { throw failure }
        guard let root = document.root else { throw SyncError(.unreadableModel, "the file is empty") }
        return root
    }

    // MARK: Checks

    /// Checks that XML is UTF-8 and declares no document type.
    ///
    /// `XMLParser` ends the process at invalid UTF-8, and the entities of a document type can expand a document without
    /// limit. The check cannot find a document type in another encoding, so it rejects other encodings. It detects
    /// UTF-16 and UTF-32 by their zero bytes, and others by invalid UTF-8 or by the declared encoding.
    private static func check(_ data: Data) throws {
        guard !data.contains(0), let text = String(validating: data, as: UTF8.self) else {
            throw SyncError(.unreadableModel, "the XML is not UTF-8")
        }
        try checkDeclaration(text)
        for declaration in ["<!DOCTYPE", "<!ENTITY"] {
            guard let place = data.range(of: Data(declaration.utf8))?.lowerBound else { continue }
            throw failure("the XML declares a document type; a Core Data model has none", after: data[..<place])
        }
    }

    /// Checks that an XML declaration has the usual form and declares no encoding other than UTF-8.
    private static func checkDeclaration(_ text: String) throws {
        let start = text.unicodeScalars.prefix(maximumDeclaration)
        let plain = String(String.UnicodeScalarView(start.first == "\u{FEFF}" ? start.dropFirst() : start))
        guard plain.hasPrefix("<?xml"), plain.dropFirst(5).first?.isWhitespace ?? true else { return }
        let declaration =
            #/<\?xml\s+version\s*=\s*(["'])1\.[0-9]\1(\s+encoding\s*=\s*(["'])([A-Za-z0-9._\-]*)\3)?(\s+standalone\s*=\s*(["'])(yes|no)\6)?\s*\?>/#
        guard let found = plain.prefixMatch(of: declaration) else {
            throw SyncError(.unreadableModel, "the XML declaration cannot be read", line: 1, column: 1)
        }
        guard found.4.map({ $0.lowercased() == "utf-8" }) ?? true else {
            throw SyncError(
                .unreadableModel, "the XML has the unsupported encoding \(found.4 ?? "")", line: 1,
                column: 1)
        }
    }

    private static func failure(_ message: String, after before: Data) -> SyncError {
        let lines = before.split(separator: .newline, omittingEmptySubsequences: false)
        return SyncError(.unreadableModel, message, line: lines.count, column: (lines.last?.count ?? 0) + 1)
    }

    // MARK: Events

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        guard open.count < Self.maximumDepth else {
            return fail(parser, "elements are nested more than \(Self.maximumDepth) levels deep")
        }
        open.append(CoreDataElement(name: name, attributes: attributes, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard failure == nil, let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        fail(parser, "the file is not well-formed XML")
    }

    /// Records an error. Keeps only the first error, because the parser continues after an error and reports more.
    private func fail(_ parser: XMLParser, _ message: String) {
        guard failure == nil else { return }
        failure = SyncError(.unreadableModel, message, line: parser.lineNumber, column: parser.columnNumber)
        parser.abortParsing()
    }
}

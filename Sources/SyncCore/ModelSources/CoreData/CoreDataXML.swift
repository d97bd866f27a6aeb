import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads the XML of a Core Data model into elements.
final class CoreDataXML: NSObject, XMLParserDelegate {
    private var open: [CoreDataElement] = []
    private var root: CoreDataElement?
    private var failure: SyncError?

    /// - Throws: ``SyncError`` `unreadableModel` with line and column.
    static func root(of data: Data) throws -> CoreDataElement {
        try check(data)
        let parser = XMLParser(data: data)
        let document = CoreDataXML()
        parser.delegate = document
        parser.shouldResolveExternalEntities = false
        // The result of parse() and the parser's last error do not tell whether the document is well-formed.
        _ = parser.parse()
        if let failure = document.failure { throw failure }
        guard let root = document.root else { throw SyncError(.unreadableModel, "the file is empty") }
        return root
    }

    /// The parser stops the process at text that is not UTF-8, and entities are a way to blow up a document, so
    /// neither gets as far as that.
    private static func check(_ data: Data) throws {
        guard let text = String(validating: data, as: UTF8.self) else {
            throw SyncError(.unreadableModel, "the XML is not UTF-8")
        }
        let declaration = text.prefix(while: { $0 != ">" })
        let encoding = declaration.firstMatch(of: #/^\x{FEFF}?<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)["']/#)?.1
        guard encoding.map({ $0.lowercased() == "utf-8" }) ?? true else {
            throw SyncError(.unreadableModel, "the XML declares the encoding \(encoding ?? ""), which is not read")
        }
        guard !text.contains("<!DOCTYPE"), !text.contains("<!ENTITY") else {
            throw SyncError(.unreadableModel, "the XML declares a document type, which no Core Data model has")
        }
    }

    // MARK: Events

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        open.append(CoreDataElement(name: name, attributes: attributes, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    /// The parser goes on after an error, and reports more of them.
    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        guard failure == nil else { return }
        failure = SyncError(
            .unreadableModel, "the file is not well-formed XML", line: parser.lineNumber, column: parser.columnNumber)
        parser.abortParsing()
    }
}

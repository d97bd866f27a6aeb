import HTTPTypes
import SyncCore
import SyncService

extension ConfigurationValue {
    func parse() throws -> ParseOptions {
        var reader = try object()
        var options = ParseOptions(applicationID: try reader.required("applicationID") { try $0.secret() })
        options.restKey = try reader.optional("restKey") { try $0.secret() }
        options.sessionToken = try reader.optional("sessionToken") { try $0.secret() }
        options.pageSize = try reader.optional("pageSize") { try $0.count() } ?? options.pageSize
        options.overlap = try reader.optional("overlap") { try $0.duration() } ?? options.overlap
        options.ids = try reader.optional("ids") { try $0.choice(ServiceCapabilities.IDs.self) } ?? options.ids
        options.marker = try reader.optional("marker") { try $0.field() }
        try reader.end()
        return options
    }

    func changes() throws -> Int {
        var reader = try object()
        let version = try reader.optional("schemaVersion") { try $0.count() } ?? 1
        try reader.end()
        return version
    }

    /// What goes into a header.
    private func secret() throws -> String {
        let text = try text()
        if text.isEmpty { throw wrong(emptyVariable ?? "it is empty") }
        guard HTTPField.isValidValue(text) else {
            throw wrong(emptyVariable ?? "it is no single line of text, without blanks at its ends")
        }
        return text
    }

    private func field() throws -> String {
        let text = try neededText()
        guard text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]*/) != nil else {
            throw wrong("'\(text)' is no name of a field: letters, digits and _")
        }
        return text
    }
}

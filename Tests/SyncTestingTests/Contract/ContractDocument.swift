import Foundation
import SyncCore

/// The examples of a Markdown page. A fence with a name after its language is an example:
///
///     ```json model       the model of the examples that follow, until the next model (also `xml model`)
///     ```json example     steps of a scenario, starting with an empty store
///     ```json functions   calls of pure functions, each a case of a scenario file without its name
///     ```json refused     a schema file that is rejected, followed by
///     ```text problems    the problems that the error lists
///
/// A fence has any number of steps or calls in sequence. A section starts at `## `.
///
/// A page has a model if one precedes its first section, or if a line there names the page that has it:
///
///     The examples use the model of [the schema file](MappingSchemaFile.md#a-schema-file).
///
/// This means the first model of the other page. Each section of a page with a model begins with that model.
struct ContractDocument: Sendable {
    struct Section: Sendable {
        var title: String
        var examples: [ContractExample] = []
        var refusals: [ContractRefusal] = []
    }

    /// The name of the file.
    var page: String
    var sections: [Section] = []

    var examples: [ContractExample] { sections.flatMap(\.examples) }
    var refusals: [ContractRefusal] { sections.flatMap(\.refusals) }
}

/// An error in a page. Without it, a fence that is not read would count as a passing example.
struct ContractProblem: Error, CustomStringConvertible {
    var page: String
    var line: Int
    var message: String
    var description: String { "\(page), line \(line): \(message)" }
}

extension ContractDocument {
    /// Reads a page of a folder.
    init(page: String, in folder: URL) throws {
        let markdown = try String(contentsOf: folder.appendingPathComponent(page), encoding: .utf8)
        try self.init(markdown, page: page, in: folder)
    }

    /// - Parameter folder: The folder of the pages whose models the page may name.
    init(_ markdown: String, page: String, in folder: URL) throws {
        var reader = Reader(page: page, folder: folder)
        for (index, line) in markdown.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            try reader.read(String(line), number: index + 1)
        }
        guard reader.fence == nil else { throw reader.problem("a fence without end") }
        guard reader.refused == nil else { throw reader.problem("no problems follow") }
        self.page = page
        sections = reader.sections
    }

    private struct Reader {
        let page: String
        let folder: URL
        var sections: [Section] = []
        /// The model of the page, with which each section begins.
        var pageModel: ContractModel?
        var model: ContractModel?
        var refused: String?
        var fence: String?
        var fenceLine = 0
        var content: [String] = []
        var text: String { content.joined(separator: "\n") }

        init(page: String, folder: URL) {
            self.page = page
            self.folder = folder
        }

        func problem(_ message: String) -> ContractProblem {
            ContractProblem(page: page, line: fenceLine, message: message)
        }

        mutating func read(_ line: String, number: Int) throws {
            if fence == nil, line.hasPrefix("## ") {
                sections.append(Section(title: String(line.dropFirst(3))))
                if let pageModel { model = pageModel }
            } else if fence == nil, let other = Self.modelPage(in: line) {
                try use(Self.firstModel(of: other, in: folder))
            } else if line.hasPrefix("```"), fence == nil {
                fence = String(line.dropFirst(3))
                fenceLine = number
                content = []
            } else if line == "```", let kind = fence {
                fence = nil
                try finish(kind)
            } else if fence != nil {
                content.append(line)
            }
        }

        private mutating func use(_ model: ContractModel) {
            self.model = model
            if sections.isEmpty { pageModel = model }
        }

        private mutating func finish(_ kind: String) throws {
            switch kind {
            case "json model": use(.schema(text))
            case "xml model": use(.coreData(text))
            case "json refused": refused = text
            case "text problems":
                guard let schema = refused, !sections.isEmpty else {
                    throw problem("problems without a schema that has them")
                }
                sections[sections.count - 1].refusals.append(
                    ContractRefusal(page: page, line: fenceLine, schema: schema, problems: content))
                refused = nil
            case "json example", "json functions":
                guard let model else { throw problem("an example without a model") }
                guard let section = sections.last else { throw problem("an example before the first section") }
                let example = ContractExample(
                    page: page, line: fenceLine, section: section.title, model: model,
                    content: kind == "json example" ? .steps(try values()) : .functions(try values()))
                sections[sections.count - 1].examples.append(example)
            default:
                guard !kind.contains(" ") else { throw problem("a fence of unknown kind: \(kind)") }
            }
        }

        /// Returns the page whose model the examples use, if the line says so.
        private static func modelPage(in line: String) -> String? {
            let pattern = #/The examples use the model of \[[^\]]+\]\(([^#)]+)/#
            return line.prefixMatch(of: pattern).map { String($0.output.1) }
        }

        /// Returns the first model of a page.
        private static func firstModel(of page: String, in folder: URL) throws -> ContractModel {
            let markdown = try String(contentsOf: folder.appendingPathComponent(page), encoding: .utf8)
            let lines = markdown.split(separator: "\n", omittingEmptySubsequences: false)
            guard let start = lines.firstIndex(of: "```json model"),
                let end = lines[start...].firstIndex(of: "```")
            else { throw ContractProblem(page: page, line: 1, message: "a page without the model that others use") }
            return .schema(lines[(start + 1)..<end].joined(separator: "\n"))
        }

        /// Returns the JSON values in sequence. Each value ends at the end of a line.
        private func values() throws -> [JSONValue] {
            var values: [JSONValue] = []
            var pending = ""
            for line in content {
                pending += line + "\n"
                guard let value = try? JSONValue(parsing: pending) else { continue }
                values.append(value)
                pending = ""
            }
            if pending.contains(where: { !$0.isWhitespace }) { _ = try JSONValue(parsing: pending) }
            guard !values.isEmpty else { throw problem("an example without steps") }
            return values
        }
    }
}

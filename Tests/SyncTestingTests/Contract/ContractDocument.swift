import Foundation
import SyncCore

/// The examples of a Markdown document. A fence with a name after its language is an example:
///
///     ```json model       the model of the examples that follow, until the next model (also `xml model`)
///     ```json example     steps of a scenario, starting with an empty store
///     ```json functions   calls of pure functions, each a case of a scenario file without its name
///     ```json refused     a schema file that is rejected, followed by
///     ```text problems    the problems that the error lists
///
/// A fence has any number of steps or calls in sequence. A section starts at `## `.
struct ContractDocument: Sendable {
    struct Section: Sendable {
        var title: String
        var examples: [ContractExample] = []
        var refusals: [ContractRefusal] = []
    }

    var sections: [Section] = []

    var examples: [ContractExample] { sections.flatMap(\.examples) }
    var refusals: [ContractRefusal] { sections.flatMap(\.refusals) }
}

/// An error in a document. Without it, a fence that is not read would count as a passing example.
struct ContractProblem: Error, CustomStringConvertible {
    var line: Int
    var message: String
    var description: String { "line \(line): \(message)" }
}

extension ContractDocument {
    init(_ markdown: String) throws {
        var reader = Reader()
        for (index, line) in markdown.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            try reader.read(String(line), number: index + 1)
        }
        guard reader.fence == nil else { throw ContractProblem(line: reader.fenceLine, message: "a fence without end") }
        guard reader.refused == nil else {
            throw ContractProblem(line: reader.fenceLine, message: "no problems follow")
        }
        sections = reader.sections
    }

    private struct Reader {
        var sections: [Section] = []
        var model: ContractModel?
        var refused: String?
        var fence: String?
        var fenceLine = 0
        var content: [String] = []
        var text: String { content.joined(separator: "\n") }

        mutating func read(_ line: String, number: Int) throws {
            if fence == nil, line.hasPrefix("## ") {
                sections.append(Section(title: String(line.dropFirst(3))))
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

        private mutating func finish(_ kind: String) throws {
            switch kind {
            case "json model": model = .schema(text)
            case "xml model": model = .coreData(text)
            case "json refused": refused = text
            case "text problems":
                guard let schema = refused, !sections.isEmpty else {
                    throw ContractProblem(line: fenceLine, message: "problems without a schema that has them")
                }
                sections[sections.count - 1].refusals.append(
                    ContractRefusal(line: fenceLine, schema: schema, problems: content))
                refused = nil
            case "json example", "json functions":
                guard let model else { throw ContractProblem(line: fenceLine, message: "an example without a model") }
                guard let section = sections.last else {
                    throw ContractProblem(line: fenceLine, message: "an example before the first section")
                }
                let example = ContractExample(
                    line: fenceLine, section: section.title, model: model,
                    content: kind == "json example" ? .steps(try values()) : .functions(try values()))
                sections[sections.count - 1].examples.append(example)
            default:
                guard !kind.contains(" ") else {
                    throw ContractProblem(line: fenceLine, message: "a fence of unknown kind: \(kind)")
                }
            }
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
            guard !values.isEmpty else { throw ContractProblem(line: fenceLine, message: "an example without steps") }
            return values
        }
    }
}

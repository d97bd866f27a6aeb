import Foundation
import Testing

/// A recipe of `Docs/Cookbook.md`: a section with files and commands.
///
///     ```sh curl      downloads of the files; not run
///     ```json NAME    a whole file of the folder
///     ```sh           commands, run in a copy of that folder
///     ```text         the output of the commands above; if missing, they print nothing
struct CookbookRecipe: Sendable, CustomTestStringConvertible {
    struct File: Sendable {
        let name: String
        let text: String
        let line: Int
    }

    struct Command: Sendable {
        let text: String
        var printed = ""
        let line: Int
    }

    let title: String
    /// The folder in `Fixtures/Cookbook` that the recipe links to.
    var folder = ""
    var downloads: [String] = []
    var files: [File] = []
    var commands: [Command] = []

    var fixtures: URL { Sandbox.fixtures.appendingPathComponent("Cookbook/\(folder)") }
    var testDescription: String { title }

    struct Problem: Error {
        let line: Int
        let message: String
    }

    /// Returns the recipes of a page. An unknown fence is an error, because its example would not be checked.
    static func recipes(_ page: String) throws -> [CookbookRecipe] {
        var recipes: [CookbookRecipe] = []
        var fence: (kind: String, line: Int, content: [String])?
        for (index, line) in page.components(separatedBy: "\n").enumerated() {
            if let open = fence, line == "```" {
                guard !recipes.isEmpty else { throw Problem(line: open.line, message: "a fence before the recipes") }
                try recipes[recipes.count - 1].add(open.kind, open.content, line: open.line)
                fence = nil
            } else if fence != nil {
                fence?.content.append(line)
            } else if line.hasPrefix("```") {
                fence = (String(line.dropFirst(3)), index + 1, [])
            } else if line.hasPrefix("## ") {
                recipes.append(CookbookRecipe(title: String(line.dropFirst(3))))
            } else if !recipes.isEmpty, let link = line.range(of: "](../Fixtures/Cookbook/") {
                recipes[recipes.count - 1].folder = String(line[link.upperBound...].prefix { $0 != ")" })
            }
        }
        if let fence { throw Problem(line: fence.line, message: "a fence without end") }
        return recipes
    }

    private mutating func add(_ kind: String, _ content: [String], line: Int) throws {
        let text = content.joined(separator: "\n")
        switch kind {
        case "sh curl": downloads += content
        case "sh": commands.append(Command(text: text, line: line))
        case "text":
            guard let last = commands.indices.last, commands[last].printed.isEmpty else {
                throw Problem(line: line, message: "output of no command")
            }
            commands[last].printed = text + "\n"
        case _ where kind.hasPrefix("json "):
            files.append(File(name: String(kind.dropFirst(5)), text: text + "\n", line: line))
        default: throw Problem(line: line, message: "a fence of unknown kind: \(kind)")
        }
    }
}

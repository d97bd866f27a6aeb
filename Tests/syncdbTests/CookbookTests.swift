import Foundation
import Testing

@Suite("The cookbook")
struct CookbookTests {
    static let page = Sandbox.fixtures.deletingLastPathComponent().appendingPathComponent("Docs/Cookbook.md")

    static func recipes() throws -> [CookbookRecipe] {
        try CookbookRecipe.recipes(String(contentsOf: page, encoding: .utf8))
    }

    @Test("The cookbook has a recipe for each folder of Fixtures/Cookbook")
    func everyFolderHasARecipe() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Sandbox.fixtures.appendingPathComponent("Cookbook").path)
        #expect(try Self.recipes().map(\.folder).sorted() == folders.filter { !$0.hasPrefix(".") }.sorted())
    }

    @Test("The commands of a recipe print the output that the recipe shows", arguments: try recipes())
    func commandsPrintShownOutput(_ recipe: CookbookRecipe) throws {
        #expect(!recipe.commands.isEmpty)
        let sandbox = try Sandbox()
        let folder = sandbox.folder.appendingPathComponent(recipe.folder)
        try FileManager.default.copyItem(at: recipe.fixtures, to: folder)
        // All commands run in one shell, so that exported variables hold for the commands that follow.
        var script = "set -euo pipefail\ncd '\(folder.path)'\nsyncdb() { \"$SYNCDB\" \"$@\"; }\nunset NO_COLOR\n"
        for (index, command) in recipe.commands.enumerated() {
            script += "exec >'\(sandbox.folder.path)/\(index).printed' 2>&1\n\(command.text)\n"
        }
        let run = try sandbox.shell(script)
        #expect(run.status == 0, "\(run.errors)")
        for (index, command) in recipe.commands.enumerated() {
            let file = sandbox.folder.appendingPathComponent("\(index).printed")
            let printed = try? String(contentsOf: file, encoding: .utf8)
            #expect(printed == command.printed, "\(recipe.title), line \(command.line): \(command.text)")
        }
    }

    @Test("A recipe shows its files whole, and uses no others", arguments: try recipes())
    func filesAreShownWhole(_ recipe: CookbookRecipe) throws {
        #expect(recipe.files.contains { $0.name == "model.json" })
        for file in recipe.files {
            let text = try String(contentsOf: recipe.fixtures.appendingPathComponent(file.name), encoding: .utf8)
            #expect(text == file.text, "\(recipe.title), line \(file.line): \(file.name)")
        }
        // The commands read the files that curl writes.
        #expect(!recipe.downloads.isEmpty)
        for line in recipe.downloads {
            let name = try #require(line.components(separatedBy: " > ").last)
            #expect(
                FileManager.default.fileExists(atPath: recipe.fixtures.appendingPathComponent(name).path), "\(line)")
            #expect(recipe.commands.contains { $0.text.contains(" \(name) ") }, "nothing reads \(name)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: recipe.fixtures.path)
        let mentioned = (recipe.commands.map(\.text) + recipe.downloads).joined(separator: "\n")
        for name in names { #expect(mentioned.contains(name), "\(recipe.title) says nothing of \(name)") }
    }
}

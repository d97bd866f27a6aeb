import Sync

/// Runs a command: `add TITLE` or `rename ID TITLE`.
func edit(_ words: [String], in stack: DataStack) async throws {
    switch words.first {
    case "add" where words.count > 1:
        let title = words.dropFirst().joined(separator: " ")
        try await stack.insert("Todo", values: ["title": .string(title), "done": false])
    case "rename" where words.count > 2:
        let title = words.dropFirst(2).joined(separator: " ")
        try await Sync.update(
            id: .string(words[1]), with: ["title": .string(title)], inEntity: "Todo", stack: stack)
    default:
        print("The commands are: add TITLE, rename ID TITLE")
    }
}

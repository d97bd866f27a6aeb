import Foundation
import SyncCore
import SyncStore

// Text is looked into as bytes: SQLite's text functions stop at a NUL.
extension SQLiteDialect {
    /// The bytes of folded text. The function gives text, so that an empty one is not taken for NULL.
    func folded(_ expression: String) -> String { "CAST(sync_fold(\(bytes(expression))) AS BLOB)" }

    func holds(
        _ test: TextTest, _ expression: String, ignoringCase ignoresCase: Bool, _ arguments: inout SQLArguments
    ) -> String {
        let bytes = bytes(expression)
        let text = ignoresCase ? folded(expression) : bytes
        switch test {
        case .contains(let part):
            return falseIfNull("instr(\(text), \(bind(utf8: part, &arguments))) > 0")
        case .beginsWith(let part):
            return isSame("substr(\(text), 1, \(part.utf8.count))", bind(utf8: part, &arguments))
        case .endsWith(let part):
            return isSame("substr(\(text), -\(part.utf8.count))", bind(utf8: part, &arguments))
        case .like(let pattern):
            return falseIfNull("sync_like(\(text), \(bind(utf8: pattern, &arguments)))")
        case .matches(let expression):
            let pattern = bind(utf8: expression.pattern, &arguments)
            return falseIfNull("sync_matches(\(bytes), \(pattern), \(ignoresCase ? 1 : 0))")
        }
    }

    private func bytes(_ expression: String) -> String { "CAST(\(expression) AS BLOB)" }

    private func bind(utf8 text: String, _ arguments: inout SQLArguments) -> String {
        bind(.bytes(Data(text.utf8)), &arguments)
    }
}

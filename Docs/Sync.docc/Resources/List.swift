import Sync

/// Returns a line of the list, such as `[x] 21 Paint the door`.
func line(_ todo: SyncRow) -> String {
    let mark = todo["done"]?.bool == true ? "x" : " "
    let id = todo["id"]?.int.map { "\($0)" } ?? "new"
    return "[\(mark)] \(id) \(todo["title"]?.string ?? "no title")"
}

import GRDB
import SyncCore
struct PredicateSQL {
    let sql = "1"
    let arguments: [DatabaseValue] = []
    init(_ predicate: RecordPredicate, on entity: CompiledEntity, layout: StoreLayout, alias: String) throws {}
    static func familyCondition(_ entity: CompiledEntity, _ layout: StoreLayout, alias: String) -> String? { nil }
}

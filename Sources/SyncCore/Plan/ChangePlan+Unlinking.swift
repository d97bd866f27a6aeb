extension ChangePlan {
    /// The same plan, in which lists unlink the rows of some tables that they leave out, and delete none.
    package func unlinking(_ tables: Set<TableID>) -> ChangePlan {
        var plan = self
        for link in plan.links.indices {
            for index in plan.links[link].replacements.indices {
                let left = model.links[link].side(plan.links[link].replacements[index].end.other).table
                if tables.contains(left) { plan.links[link].replacements[index].kind = .unlink }
            }
        }
        return plan
    }
}

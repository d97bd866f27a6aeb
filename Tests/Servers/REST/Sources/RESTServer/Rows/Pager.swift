import Foundation

/// Selects the page of a list that a call requests.
struct Pager {
    /// The settings of the space.
    let settings: Settings
    /// The call.
    let call: Call
    /// All rows of the list.
    let rows: [Row]

    /// Some rows of a list, and information about the other pages.
    struct Page {
        let rows: ArraySlice<Row>
        /// Members beside the rows.
        var members: [String: JSON] = [:]
        var headers: [String: String] = [:]
    }

    /// Returns the page; 400 for invalid parameters, 404 for a page after the last one if the settings say so.
    func page() throws(Refusal) -> Page {
        switch settings.paging {
        case .none: Page(rows: rows[...])
        case .page: try numbered()
        case .offset: try counted()
        case .link, .next, .cursor: try following()
        }
    }

    /// Returns the page with a number.
    private func numbered() throws(Refusal) -> Page {
        let size = try size("per_page")
        let number = try call.query.whole("page", atLeast: 1) ?? 1
        // A page number can be as large as an integer gets.
        let start = (number - 1).multipliedReportingOverflow(by: size)
        let page = try slice(from: start.overflow ? .max : start.partialValue, size: size)
        return Page(rows: page, members: ["total_pages": .integer((rows.count + size - 1) / size)])
    }

    /// Returns the page at an offset.
    private func counted() throws(Refusal) -> Page {
        let start = try call.query.whole("offset", atLeast: 0) ?? 0
        return Page(rows: try slice(from: start, size: size("limit")), members: ["total": .integer(rows.count)])
    }

    /// Returns the page after a row. Deletions of earlier rows do not change it.
    private func following() throws(Refusal) -> Page {
        let size = try size("limit")
        let after = try position()
        let start = after.map { after in rows.firstIndex { $0.number > after } ?? rows.count } ?? 0
        var page = Page(rows: try slice(from: start, size: size))
        let next = page.rows.endIndex < rows.count ? page.rows.last?.number : nil
        switch settings.paging {
        case .link: page.headers["Link"] = links(next: next, size: size)
        case .cursor: page.members["next_cursor"] = next.map { .string(Cursor.text($0)) } ?? .null
        default: page.members["next"] = next.map { .string(address(after: $0)) } ?? .null
        }
        return page
    }

    /// Returns the requested size, at most that of the settings.
    private func size(_ name: String) throws(Refusal) -> Int {
        min(try call.query.whole(name, atLeast: 1) ?? settings.pageSize, settings.pageSize)
    }

    /// Returns the rows of a page; 404 for a page after the last one if the settings say so.
    private func slice(from start: Int, size: Int) throws(Refusal) -> ArraySlice<Row> {
        if settings.endIs404, start > 0, start >= rows.count { throw Refusal(404, "there is no such page") }
        return rows.dropFirst(start).prefix(size)
    }

    /// Returns the number of the row before the page; nil for the first page.
    private func position() throws(Refusal) -> Int? {
        guard settings.paging == .cursor else { return try call.query.whole("after", atLeast: 0) }
        guard let text = call.query["cursor"] else { return nil }
        guard let number = Cursor.number(text) else { throw Refusal(400, "cursor is none that was given") }
        return number
    }

    /// Returns the header `Link`, without a next page on the last page; nil for a list with one page.
    private func links(next: Int?, size: Int) -> String? {
        guard rows.count > size else { return nil }
        let start = (rows.count - 1) / size * size
        let last = "<\(address(after: rows[start - 1].number))>; rel=\"last\""
        return next.map { "<\(address(after: $0))>; rel=\"next\", \(last)" } ?? last
    }

    /// Returns the URL of the page after a row.
    private func address(after number: Int) -> String {
        "\(call.address)?\(call.query.setting("after", to: number))"
    }
}

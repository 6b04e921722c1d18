import CommitterDaemon

@main
struct Main {
    static func main() async {
        await CommitterService.main()
    }
}

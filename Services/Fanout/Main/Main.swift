import FanoutDaemon

@main
struct Main {
    static func main() async {
        await FanoutService.main()
    }
}

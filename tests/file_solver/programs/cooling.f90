! Cooling of a body, exp(-t), one case per row; INPUT and OUTPUT are its two arguments.
program cooling
    implicit none
    character(len=1024) :: given, taken, line
    double precision :: time
    integer :: ended
    call get_command_argument(1, given)
    if (given == '--version') then
        print '(a)', 'cooling 1'
        stop
    end if
    call get_command_argument(2, taken)
    open(10, file=given, status='old', action='read')
    open(11, file=taken, status='replace', action='write')
    read(10, '(a)') line
    write(11, '(a)') 'temperature'
    do
        read(10, *, iostat=ended) time
        if (ended /= 0) exit
        write(11, '(es25.17e3)') exp(-time)
    end do
end program
